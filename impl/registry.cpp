#include "impl/registry.hpp"

#include <algorithm>

#include "impl/device/device_impls.hpp"
#include "impl/host/host.hpp"
#include "impl/mutants/mutants.hpp"
#include "impl/on_storage.hpp"

namespace poolproof {
namespace {

ImplInfo host() {
  ImplInfo info;
  info.name = "host";
  info.supports = [](const Geometry& /*g*/) { return true; };
  make_anywhere(info, make_host);
  return info;
}

}  // namespace

std::span<const ImplInfo> builtin_impls() {
  static const std::vector<ImplInfo> impls{
      host(),
      cuda_host_impl(),
      cuda_impl(),
      b01_partial_page_map_clear(),
      b04_swa_tail_keeps_old_map(),
      b08_segment_free_page_zero(),
      b11_free_list_from_zero(),
      b15_ring_free_swa(),
      b15_ring_group_end(),
      b15_ring_no_clear(),
      b16_ring_linear_accounting(),
      b17_ring_stale_rows(),
      b20_grouped_free_late_resolve(),
      b21_group_end_twice(),
      b22_group_nested_begin(),
      b26_segment_boundary_page(),
      b27_segments_seam_page(),
      b30_decode_half_alloc(),
      b32_check_after_kernel(),
      b36_duplicate_keeps_count(),
      b41_free_accepts_twice(),
      b46_full_half_alone(),
      b61_pages_not_tokens(),
      b94_staged_duplicate(),
      batch_shares_page(),
      clear_shifts_entry(),
      clear_zeroes_tail(),
      credited_twice(),
      decode_opens_early(),
      decode_unmapped(),
      estimate_refuses(),
      extend_skips_last_page(),
      group_borrows_indices(),
      group_credits_early(),
      kv_pair_swapped(),
      lost_page_counted(),
      mapping_spills_over(),
      merge_without_sort(),
      no_merge_when_short(),
      order_of_arrival(),
      resize_keeps_size(),
      restore_forgets_mapping(),
      restore_forgets_staged(),
      ring_row_mod_window(),
      slot_given_twice(),
      unmap_noop(),
      canary(),
  };
  return impls;
}

std::span<const ImplInfo> device_mutant_impls() {
  static const std::vector<ImplInfo> impls = [] {
    std::vector<ImplInfo> all = device_code_mutants();
    const std::vector<ImplInfo> shared = shared_mutants(builtin_impls());
    all.insert(all.end(), shared.begin(), shared.end());
    return all;
  }();
  return impls;
}

const ImplInfo* find_impl(std::string_view name) {
  for (const std::span<const ImplInfo> impls : {builtin_impls(), device_mutant_impls()}) {
    const auto found =
        std::find_if(impls.begin(), impls.end(), [name](const ImplInfo& impl) { return impl.name == name; });
    if (found != impls.end()) {
      return &*found;
    }
  }
  return nullptr;
}

}  // namespace poolproof
