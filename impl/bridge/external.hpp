// `--impl exec:'COMMAND ARGS'`: an implementation in a child process that speaks the external protocol.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "impl/bridge/session.hpp"
#include "impl/registry.hpp"

namespace poolproof {

inline constexpr std::string_view external_prefix = "exec:";
inline constexpr std::chrono::milliseconds default_answer_limit = std::chrono::seconds(10);

/// An external implementation as the registry's entries are, with its session.
struct ExternalImpl {
  ImplInfo info;
  std::shared_ptr<ExternalSession> session;
};

/// Starts `name` ("exec:COMMAND ARGS") and asks what it offers. One allocator of it lives at a time: building the next
/// one ends the last. Answers a sentence when it cannot be run.
Result<ExternalImpl, std::string> open_external(const std::string& name,
                                                std::chrono::milliseconds limit = default_answer_limit);

}  // namespace poolproof
