#include "model/invariants.hpp"

namespace poolproof {

const std::array<InvariantInfo, invariant_count>& invariants() {
  static constexpr std::array<InvariantInfo, invariant_count> table{{
      {Invariant::avail_le_size, "AVAIL_LE_SIZE", "no pool reports more available than its size", false},
      {Invariant::avail_exact, "AVAIL_EXACT",
       "reported sizes equal free + staged, deferred pages not counted (ring: free slots times ring cost)", false},
      {Invariant::conservation, "CONSERVATION", "free + staged + deferred + lent pages are the whole pool", true},
      {Invariant::no_double_lend, "NO_DOUBLE_LEND", "a lent page is not lent again before it is returned", false},
      {Invariant::sentinel_untouched, "SENTINEL_UNTOUCHED",
       "page 0 is never lent, never in a free list, never a live peer", false},
      {Invariant::free_list_clean, "FREE_LIST_CLEAN",
       "free lists hold no page twice, no page out of range, no lent page", true},
      {Invariant::all_or_nothing, "ALL_OR_NOTHING", "a refused op changes nothing, in either pool", false},
      {Invariant::served_when_fits, "SERVED_WHEN_FITS", "an op that fits is not refused", false},
      {Invariant::page_layout, "PAGE_LAYOUT",
       "locs fill the last page, then whole consecutive pages, then the head of one more", false},
      {Invariant::sorted_when_merged, "SORTED_WHEN_MERGED", "with need_sort the free list is ascending", true},
      {Invariant::mapping_total, "MAPPING_TOTAL", "every lent full loc with a live peer translates to that peer",
       false},
      {Invariant::mapping_cleared, "MAPPING_CLEARED",
       "a full loc without a live peer translates to 0, for the whole page", false},
      {Invariant::mapping_injective, "MAPPING_INJECTIVE", "no two full locs share an SWA loc", true},
      {Invariant::mapping_live, "MAPPING_LIVE", "every mapped SWA loc is lent", true},
      {Invariant::tail_entry, "TAIL_ENTRY", "the last entry of the mapping is -1", false},
      {Invariant::group_defers, "GROUP_DEFERS", "nothing is credited before free_group_end", false},
      {Invariant::group_ownership, "GROUP_OWNERSHIP",
       "a group releases the peers mapped when free was called; later mappings survive", false},
      {Invariant::group_drains, "GROUP_DRAINS",
       "free_group_end credits all that was deferred, once; a second end releases nothing", false},
      {Invariant::ring_pool_idle, "RING_POOL_IDLE", "in ring mode the paged SWA pool never moves", false},
      {Invariant::ring_slot_exclusive, "RING_SLOT_EXCLUSIVE", "a request slot has one owner", false},
      {Invariant::kv_intact, "KV_INTACT", "a live position reads back the stamp that its owner wrote", false},
      {Invariant::kv_fresh, "KV_FRESH", "no read returns another owner's stamp, or one from before a recycle", false},
      {Invariant::round_trip, "ROUND_TRIP", "restore brings back the state that backup saw", false},
      {Invariant::ranks_agree, "RANKS_AGREE", "replicas fed the same ops answer the same locs", false},
      {Invariant::saver_frees, "SAVER_FREES",
       "pause and destroy give the device all bytes of the tag's buffers back, resume and build take as many", false},
      {Invariant::saver_stable, "SAVER_STABLE",
       "a buffer keeps its address and its planned size, and is paused and resumed in turn", false},
      {Invariant::saver_zero, "SAVER_ZERO", "after resume a buffer reads zero, or what was backed up", false},
      {Invariant::saver_tagged, "SAVER_TAGGED", "pause and resume leave buffers of other tags untouched", false},
      {Invariant::saver_off, "SAVER_OFF", "with the saver off pause and resume change nothing", false},
  }};
  return table;
}

const std::array<RuleInfo, rule_count>& rules() {
  static constexpr std::array<RuleInfo, rule_count> table{{
      {Rule::c1, "C1", "give a loc back exactly once per lending, per side"},
      {Rule::c2, "C2", "never use a loc after freeing it, nor read it before writing it"},
      {Rule::c3, "C3", "free at page granularity: no live token left in a released page"},
      {Rule::c4, "C4", "free_segment starts page-aligned, no page in two segments of one call or group"},
      {Rule::c5, "C5", "free_full only when the peers are gone"},
      {Rule::c6, "C6", "groups are opened and closed once, in pairs; snapshots are taken before they are restored"},
      {Rule::c7, "C7", "extend continues the row's true last loc, whose SWA page is still live"},
      {Rule::c8, "C8", "window eviction stays at or below floor((seq - window) / page) * page and only moves forward"},
      {Rule::c9, "C9", "a request slot has one owner and is given back once"},
      {Rule::c10, "C10", "speculative tokens allocated ahead and rejected are given back"},
      {Rule::c11, "C11",
       "memory is used only while it is built and not paused, and nothing lost in a pause is read after it"},
  }};
  return table;
}

std::optional<Invariant> invariant_from(std::string_view id) {
  for (const InvariantInfo& info : invariants()) {
    if (info.id == id) {
      return info.invariant;
    }
  }
  return std::nullopt;
}

}  // namespace poolproof
