#include "impl/saver/mutants/saver_mutants.hpp"

#include <vector>

namespace poolproof {

std::span<const SaverMutant> saver_mutants() {
  static const std::vector<SaverMutant> all{
      b83_wake_resizes_pool(), b85_swa_half_outside(), b86_mapping_discarded(), b87_flush_while_asleep(),
      b92_pool_not_in_use(),   saver_no_flag(),        saver_mha_alone(),       saver_index_outside(),
      saver_backup_tail(),     saver_destroy_leaks(),  saver_foreign_tag(),     saver_index_stale(),
      saver_keeps_handle(),    saver_moves(),          saver_off_acts(),        saver_pause_twice(),
      saver_resume_dirty(),    saver_resume_shrinks(), saver_takes_all_tags(),
  };
  return all;
}

}  // namespace poolproof
