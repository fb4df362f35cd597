// A session with an external implementation: the child is started when it is needed, again after it broke down, and
// what it says has been checked.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "impl/bridge/capabilities.hpp"
#include "impl/bridge/child_process.hpp"
#include "impl/script.hpp"
#include "model/geometry.hpp"
#include "model/result.hpp"

namespace poolproof {

class ExternalSession {
 public:
  /// Starts `command` and says hello. Answers a sentence when it does not start or is no implementation.
  static Result<std::shared_ptr<ExternalSession>, std::string> open(const std::string& command,
                                                                    std::chrono::milliseconds limit);
  /// The same with the start put off until the first reset.
  static std::shared_ptr<ExternalSession> prepare(const std::string& command, std::chrono::milliseconds limit);

  /// Nothing before the child has said hello.
  [[nodiscard]] const Capabilities& capabilities() const { return capabilities_; }

  /// A new pool, in a new child when the last one broke down or ended after its last answer. Answers a sentence.
  std::optional<std::string> reset(const Geometry& geometry);
  /// Replies to `calls` on the pool of the last reset. After a failure a reset must come first.
  Result<std::vector<Reply>, ChildFailure> run(std::span<const Call> calls);

  /// Every line is answered within this.
  void set_limit(std::chrono::milliseconds limit) { limit_ = limit; }
  /// How often a child was started.
  [[nodiscard]] std::uint64_t starts() const { return starts_; }

 private:
  ExternalSession(std::string command, std::chrono::milliseconds limit) : command_(std::move(command)), limit_(limit) {}
  std::optional<std::string> begin();
  std::optional<std::string> try_reset();
  ChildFailure garbled(const std::string& what);

  std::string command_;
  std::chrono::milliseconds limit_;
  ChildProcess child_;
  Capabilities capabilities_;
  Geometry geometry_;
  std::uint64_t starts_ = 0;
  bool raised_ = false;  ///< the last pool ended in an error of the implementation's own
  bool ended_ = false;   ///< the child was found ended when it was asked for a new pool
};

}  // namespace poolproof
