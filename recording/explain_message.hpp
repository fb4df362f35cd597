// An engine's message in plain words: what its numbers say, which invariant or rule that is, and what to do next.
#pragma once

#include <optional>
#include <string>

#include "recording/engine_message.hpp"

namespace poolproof {

/// Several lines. `page` is used where the message does not say the page size. The message is not empty().
std::string explain_engine_message(const EngineMessage& message, std::optional<Tokens> page);

/// What can be explained, for people whose message is not known.
std::string known_messages();

}  // namespace poolproof
