#include "impl/registry.hpp"

#include <algorithm>
#include <utility>

#include "impl/device/device_impls.hpp"
#include "impl/host/host.hpp"
#include "impl/mutants/mutants.hpp"
#include "impl/on_storage.hpp"
#include "impl/saver/saver_impls.hpp"

namespace poolproof {
namespace {

ImplInfo host() {
  ImplInfo info;
  info.name = "host";
  info.supports = [](const Geometry& /*g*/) { return true; };
  make_anywhere(info, make_host);
  return info;
}

/// One that knows pools by their locs alone says so of a pool with memory.
ImplInfo without_memory(ImplInfo info) {
  if (info.memory) {
    return info;
  }
  const auto refuse = [name = info.name](auto make) {
    using Make = decltype(make);
    return make ? Make([name, make](const Geometry& g,
                                    auto&&... more) -> Result<std::unique_ptr<Allocator>, std::string> {
      if (!g.kv.none()) {
        return name + " does not build the memory of its pools; leave kv out, or take --impl saver";
      }
      return make(g, std::forward<decltype(more)>(more)...);
    })
                : make;
  };
  info.supports = [supports = info.supports](const Geometry& g) { return g.kv.none() && supports(g); };
  info.make = refuse(info.make);
  info.make_rank = refuse(info.make_rank);
  info.make_on = refuse(info.make_on);
  return info;
}

std::vector<ImplInfo> without_memory(std::vector<ImplInfo> impls) {
  std::transform(impls.begin(), impls.end(), impls.begin(),
                 [](ImplInfo& info) { return without_memory(std::move(info)); });
  return impls;
}

std::vector<ImplInfo> joined(std::vector<ImplInfo> impls, const std::vector<ImplInfo>& more) {
  impls.insert(impls.end(), more.begin(), more.end());
  return impls;
}

}  // namespace

std::span<const ImplInfo> builtin_impls() {
  static const std::vector<ImplInfo> impls = without_memory(joined(
      {
          host(),
          cuda_host_impl(),
          cuda_impl(),
          saver_impl(),
          cuda_saver_impl(),
          b01_partial_page_map_clear(),
          b04_swa_tail_keeps_old_map(),
          b08_segment_free_page_zero(),
          b10_null_block_freed(),
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
          b31_no_rollback(),
          b32_check_after_kernel(),
          b36_duplicate_keeps_count(),
          b41_free_accepts_twice(),
          b43_counted_per_entry(),
          b46_full_half_alone(),
          b53_removed_branch_drops(),
          b55_one_half_counts(),
          b60_contiguous_run(),
          b61_pages_not_tokens(),
          b71_pending_overwritten(),
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
      },
      saver_mutant_impls()));
  return impls;
}

std::span<const ImplInfo> device_mutant_impls() {
  static const std::vector<ImplInfo> impls = [] {
    return without_memory(
        joined(joined(device_code_mutants(), shared_mutants(builtin_impls())), cuda_saver_mutant_impls()));
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

const ImplInfo& host_impl_for(const Geometry& geometry) { return *find_impl(geometry.kv.none() ? "host" : "saver"); }

}  // namespace poolproof
