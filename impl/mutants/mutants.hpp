// Every mutant's registry entry, each made in the file of the same name.
#pragma once

#include "impl/mutants/mutant.hpp"

namespace poolproof {

// Known bugs, by their id in the catalogue.
ImplInfo b01_partial_page_map_clear();
ImplInfo b04_swa_tail_keeps_old_map();
ImplInfo b08_segment_free_page_zero();
ImplInfo b10_null_block_freed();
ImplInfo b11_free_list_from_zero();
ImplInfo b15_ring_free_swa();
ImplInfo b15_ring_group_end();
ImplInfo b15_ring_no_clear();
ImplInfo b16_ring_linear_accounting();
ImplInfo b17_ring_stale_rows();
ImplInfo b20_grouped_free_late_resolve();
ImplInfo b21_group_end_twice();
ImplInfo b22_group_nested_begin();
ImplInfo b26_segment_boundary_page();
ImplInfo b27_segments_seam_page();
ImplInfo b30_decode_half_alloc();
ImplInfo b31_no_rollback();
ImplInfo b32_check_after_kernel();
ImplInfo b36_duplicate_keeps_count();
ImplInfo b41_free_accepts_twice();
ImplInfo b43_counted_per_entry();
ImplInfo b46_full_half_alone();
ImplInfo b53_removed_branch_drops();
ImplInfo b55_one_half_counts();
ImplInfo b60_contiguous_run();
ImplInfo b61_pages_not_tokens();
ImplInfo b71_pending_overwritten();
ImplInfo b94_staged_duplicate();

// Faults of our own, one for what the known bugs leave out.
ImplInfo batch_shares_page();
ImplInfo clear_shifts_entry();
ImplInfo clear_zeroes_tail();
ImplInfo credited_twice();
ImplInfo decode_opens_early();
ImplInfo decode_unmapped();
ImplInfo estimate_refuses();
ImplInfo extend_skips_last_page();
ImplInfo group_borrows_indices();
ImplInfo group_credits_early();
ImplInfo kv_pair_swapped();
ImplInfo lost_page_counted();
ImplInfo mapping_spills_over();
ImplInfo merge_without_sort();
ImplInfo no_merge_when_short();
ImplInfo order_of_arrival();
ImplInfo resize_keeps_size();
ImplInfo restore_forgets_mapping();
ImplInfo restore_forgets_staged();
ImplInfo ring_row_mod_window();
ImplInfo slot_given_twice();
ImplInfo unmap_noop();

ImplInfo canary();

}  // namespace poolproof
