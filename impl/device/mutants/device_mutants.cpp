#include "impl/device/mutants/device_mutant.hpp"

namespace poolproof {

std::vector<DeviceMutant> device_mutants() {
  std::vector<DeviceMutant> all;
  for (const auto make : {address_in_32_bits, block_border_uncounted, check_after_launch, counts_settled_early,
                          free_without_dedup, lost_mark, missing_stream_wait, partial_page_stays_mapped,
                          push_by_arrival, stale_count_after_group, wait_without_end, write_past_memory}) {
    all.push_back(make());
  }
  return all;
}

}  // namespace poolproof
