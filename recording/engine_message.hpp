// What a serving engine (SGLang, releases 0.4.8 to 0.5.23) prints when its own checks find a pool wrong: counts that do
// not add up, and assertions of the allocators. Read out of whatever log text surrounds it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/units.hpp"

namespace poolproof {

struct CountedPart {
  std::string name;  ///< "available", "evictable", ...
  Tokens tokens = 0;
};

/// A pool's parts, and what they should add up to.
struct PoolSum {
  std::string pool;  ///< "full", "swa", "mamba", ...; "kv" where the engine has but one
  Tokens total = 0;
  std::vector<CountedPart> parts;
  bool ring = false;  ///< SWA KV lives in request slots: the engine does not add these up

  [[nodiscard]] Tokens sum() const;
  /// Tokens too many; negative: missing.
  [[nodiscard]] Tokens over() const { return sum() - total; }
};

/// Request slots.
struct SlotSum {
  std::int64_t available = 0;
  std::int64_t session_held = 0;
  std::int64_t total = 0;
};

/// A request for tokens that was refused.
struct OutOfMemory {
  Tokens wanted = 0;
  std::optional<Tokens> available;  ///< free right now
  std::optional<Tokens> evictable;
};

/// An assertion, or another text that means one thing.
struct KnownText {
  std::string_view text;  ///< stands in the message
  std::string_view meaning;
  std::string_view rule;    ///< invariant or protocol rule
  std::string_view family;  ///< mutants that show the like, as `list mutants` names them; may be empty
};

struct EngineMessage {
  std::vector<PoolSum> sums;
  std::optional<SlotSum> slots;
  std::optional<OutOfMemory> out_of_memory;
  std::vector<const KnownText*> known;
  std::optional<Tokens> page;  ///< where the text says it
  bool busy = false;           ///< found between batches, with requests running

  [[nodiscard]] bool empty() const { return sums.empty() && !slots && !out_of_memory && known.empty(); }
};

EngineMessage read_engine_message(std::string_view text);

/// All texts that are known, in the order in which they are looked for.
const std::vector<KnownText>& known_texts();

}  // namespace poolproof
