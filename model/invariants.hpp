// The invariants that an allocator must keep and the protocol rules that its callers must keep, each with a stable id.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace poolproof {

/// What an allocator must keep. Ids, statements and whether the census alone can see a breach: invariant_info().
enum class Invariant : std::uint8_t {
  avail_le_size,
  avail_exact,
  conservation,
  no_double_lend,
  sentinel_untouched,
  free_list_clean,
  all_or_nothing,
  served_when_fits,
  page_layout,
  sorted_when_merged,
  mapping_total,
  mapping_cleared,
  mapping_injective,
  mapping_live,
  tail_entry,
  group_defers,
  group_ownership,
  group_drains,
  ring_pool_idle,
  ring_slot_exclusive,
  kv_intact,
  kv_fresh,
  round_trip,
  ranks_agree,
  saver_frees,
  saver_stable,
  saver_zero,
  saver_tagged,
  saver_off,
};
inline constexpr std::size_t invariant_count = 29;

/// What callers must do. A trace that breaks one is the caller's fault.
enum class Rule : std::uint8_t { c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11 };
inline constexpr std::size_t rule_count = 11;

struct InvariantInfo {
  Invariant invariant;
  std::string_view id;         ///< "AVAIL_LE_SIZE"
  std::string_view statement;  ///< one line
  bool census;                 ///< seen by the whole-pool census alone
};

struct RuleInfo {
  Rule rule;
  std::string_view id;  ///< "C1"
  std::string_view statement;
};

const std::array<InvariantInfo, invariant_count>& invariants();
const std::array<RuleInfo, rule_count>& rules();

inline const InvariantInfo& invariant_info(Invariant invariant) {
  return invariants()[static_cast<std::size_t>(invariant)];
}
inline const RuleInfo& rule_info(Rule rule) { return rules()[static_cast<std::size_t>(rule)]; }

/// By id, upper case; nothing when there is none of that name.
std::optional<Invariant> invariant_from(std::string_view id);

}  // namespace poolproof
