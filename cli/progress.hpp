// The progress line on a terminal, and the time that each implementation took.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "props/campaign.hpp"

namespace poolproof::cli {

class Progress {
 public:
  /// `time_limit_s`: what an implementation may take, 0 = no limit.
  /// `unit`: what CampaignProgress counts as traces.
  Progress(bool shown, double time_limit_s, std::string unit = "traces");
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(const CampaignProgress& now);
  /// Has the implementation that runs now had its time?
  [[nodiscard]] bool time_is_up() const;
  /// From the implementation's beginning to its last trace.
  [[nodiscard]] double seconds(const std::string& impl) const;
  /// Takes the line off the terminal.
  void wipe();

 private:
  using Clock = std::chrono::steady_clock;
  void draw(const CampaignProgress& now);
  [[nodiscard]] double elapsed() const;

  bool shown_;
  bool drawn_ = false;
  double time_limit_s_;
  std::string unit_;
  Clock::time_point begun_;
  Clock::time_point last_drawn_;
  std::map<std::string, double> seconds_;
};

/// 950, 12.3 k, 1.23 M
std::string short_number(double value);

}  // namespace poolproof::cli
