// Implementations in child processes that speak the external protocol: `--impl exec:'COMMAND ARGS'`, and those of the
// registry that run in a process of their own.
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

/// An implementation in a child process as the registry's entries are, with the session of its rank 0. Each further
/// rank has a session, that is a process, of its own, started when it is first built. Of each rank one allocator lives
/// at a time: building the next one ends the last.
struct ExternalImpl {
  ImplInfo info;
  std::shared_ptr<ExternalSession> session;
};

/// Starts `name` ("exec:COMMAND ARGS") and asks what it offers. Answers a sentence when it cannot be run.
Result<ExternalImpl, std::string> open_external(const std::string& name,
                                                std::chrono::milliseconds limit = default_answer_limit);

/// `impl` of the registry in a process of its own: `program`, this very program by its path, as `worker`. The entry is
/// that of `impl` but for how it is built; nothing is started before that.
ExternalImpl isolated(const ImplInfo& impl, const std::string& program,
                      std::chrono::milliseconds limit = default_answer_limit);

}  // namespace poolproof
