#include "impl/bridge/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "impl/bridge/wire.hpp"

namespace poolproof {
namespace {

/// A cold interpreter that imports a large library takes its time.
constexpr std::chrono::milliseconds least_start_limit = std::chrono::seconds(60);

}  // namespace

Result<std::shared_ptr<ExternalSession>, std::string> ExternalSession::open(const std::string& command,
                                                                            std::chrono::milliseconds limit) {
  std::shared_ptr<ExternalSession> session = prepare(command, limit);
  if (std::optional<std::string> fault = session->begin()) {
    return *std::move(fault);
  }
  return session;
}

std::shared_ptr<ExternalSession> ExternalSession::prepare(const std::string& command, std::chrono::milliseconds limit) {
  return std::shared_ptr<ExternalSession>(new ExternalSession(command, limit));  // NOLINT: the constructor is private
}

std::optional<std::string> ExternalSession::begin() {
  ++starts_;
  if (const auto started = child_.start(command_); !started) {
    return started.error();
  }
  const Result<std::string, ChildFailure> answer =
      child_.ask(write_hello(POOLPROOF_VERSION), std::max(limit_, least_start_limit));
  if (!answer) {
    return fmt::format("it did not say hello: {}", answer.error().text);
  }
  Result<Capabilities, std::string> capabilities = read_hello_answer(*answer);
  if (!capabilities) {
    child_.stop();
    return fmt::format("it did not say a proper hello: {}", capabilities.error());
  }
  capabilities_ = std::move(capabilities).value();
  return std::nullopt;
}

std::optional<std::string> ExternalSession::reset(const Geometry& geometry) {
  geometry_ = geometry;
  const bool used = child_.running();
  std::optional<std::string> fault = try_reset();
  // Some errors spoil the whole process, a device's for instance: all that comes after them fails, or it ended itself
  // once it had answered. One that dies over each new pool does so in a new process too.
  const bool spoilt = std::exchange(raised_, false) || ended_;
  if (fault && used && spoilt) {
    child_.stop();
    fault = try_reset();
  }
  return fault;
}

std::optional<std::string> ExternalSession::try_reset() {
  ended_ = false;
  if (!child_.running()) {
    if (std::optional<std::string> fault = begin()) {
      return fault;
    }
  }
  const Result<std::string, ChildFailure> answer =
      child_.ask(write_reset(geometry_), std::max(limit_, least_start_limit));
  if (!answer) {
    ended_ = answer.error().breakdown.kind == BreakdownKind::died;
    return answer.error().text;
  }
  const auto read = read_reset_answer(*answer);
  if (!read) {
    return garbled(read.error()).text;
  }
  if (const std::optional<RaisedError>& raised = *read) {
    return fmt::format("{}{}{}{}", raised->type, raised->type.empty() ? "" : ": ", raised->text,
                       raised->where.empty() ? "" : fmt::format(" ({})", raised->where));
  }
  return std::nullopt;
}

Result<std::vector<Reply>, ChildFailure> ExternalSession::run(std::span<const Call> calls) {
  if (!child_.running()) {
    return ChildFailure::of(BreakdownKind::died, "it is not running any more");
  }
  const Result<std::string, ChildFailure> answer = child_.ask(write_run(calls), limit_);
  if (!answer) {
    return answer.error();
  }
  Result<std::vector<Reply>, std::string> replies = read_run_answer(*answer, calls, geometry_);
  if (!replies) {
    return garbled(replies.error());
  }
  raised_ = !replies->empty() && replies->back().answer == Answer::failed;
  return std::move(replies).value();
}

/// What it sends cannot be trusted any more.
ChildFailure ExternalSession::garbled(const std::string& what) {
  child_.stop();
  return ChildFailure::of(BreakdownKind::garbled, fmt::format("its answer is none: {}", what));
}

}  // namespace poolproof
