#include "cli/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <utility>

namespace poolproof::cli {
namespace {

constexpr auto redraw_every = std::chrono::milliseconds(100);

double to_seconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

void to_stderr(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

Progress::Progress(bool shown, double time_limit_s, std::string unit)
    : shown_(shown), time_limit_s_(time_limit_s), unit_(std::move(unit)), begun_(Clock::now()), last_drawn_(begun_) {}

Progress::~Progress() { wipe(); }

double Progress::elapsed() const { return to_seconds(Clock::now() - begun_); }

void Progress::update(const CampaignProgress& now) {
  const Clock::time_point time = Clock::now();
  if (now.traces_done == 0) {
    begun_ = time;
  }
  seconds_[now.impl] = to_seconds(time - begun_);
  if (shown_ && (now.traces_done == 0 || time - last_drawn_ >= redraw_every)) {
    last_drawn_ = time;
    draw(now);
  }
}

void Progress::draw(const CampaignProgress& now) {
  const double spent = elapsed();
  double left = std::numeric_limits<double>::infinity();
  if (now.traces_total > 0 && now.traces_done > 0) {
    const auto total = static_cast<double>(std::max(now.traces_total, now.traces_done));
    left = spent / static_cast<double>(now.traces_done) * (total - static_cast<double>(now.traces_done));
  }
  if (time_limit_s_ > 0) {
    left = std::min(left, std::max(0.0, time_limit_s_ - spent));
  }
  std::string line = fmt::format("{}: {}", now.impl, now.traces_done);
  line += now.traces_total > 0 ? fmt::format("/{} {}", now.traces_total, unit_) : " " + unit_;
  line += fmt::format(", {} ops", short_number(static_cast<double>(now.ops)));
  if (spent > 0 && now.ops > 0) {
    line += fmt::format(", {} ops/s", short_number(static_cast<double>(now.ops) / spent));
  }
  if (left < std::numeric_limits<double>::infinity()) {
    line += fmt::format(", {:.0f} s left", left);
  }
  to_stderr("\r\x1b[K" + line);
  drawn_ = true;
}

bool Progress::time_is_up() const { return time_limit_s_ > 0 && elapsed() >= time_limit_s_; }

double Progress::seconds(const std::string& impl) const {
  const auto found = seconds_.find(impl);
  return found == seconds_.end() ? 0 : found->second;
}

void Progress::wipe() {
  if (drawn_) {
    to_stderr("\r\x1b[K");
    drawn_ = false;
  }
}

std::string short_number(double value) {
  if (value < 1e3) {
    return fmt::format("{:.0f}", value);
  }
  if (value < 1e6) {
    return fmt::format("{:.1f} k", value / 1e3);
  }
  return fmt::format("{:.2f} M", value / 1e6);
}

}  // namespace poolproof::cli
