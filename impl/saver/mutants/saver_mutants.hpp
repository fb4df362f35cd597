// Every planted fault of the memory behind the pools, each made in the file of the same name.
#pragma once

#include <span>

#include "impl/saver/saver_impls.hpp"

namespace poolproof {

/// All of them, known bugs first.
std::span<const SaverMutant> saver_mutants();

// Known bugs, by their id in the catalogue.
SaverMutant b83_wake_resizes_pool();
SaverMutant b85_swa_half_outside();
SaverMutant b86_mapping_discarded();
SaverMutant b87_flush_while_asleep();
SaverMutant b92_pool_not_in_use();

// What the builders pass on, tree by tree.
SaverMutant saver_no_flag();
SaverMutant saver_mha_alone();
SaverMutant saver_index_outside();

// Faults of our own.
SaverMutant saver_backup_tail();
SaverMutant saver_destroy_leaks();
SaverMutant saver_foreign_tag();
SaverMutant saver_index_stale();
SaverMutant saver_keeps_handle();
SaverMutant saver_moves();
SaverMutant saver_off_acts();
SaverMutant saver_pause_twice();
SaverMutant saver_resume_dirty();
SaverMutant saver_resume_shrinks();
SaverMutant saver_takes_all_tags();

// Geometries that faults need.
inline bool pausable(const Geometry& g) { return g.kv.saver != SaverMode::off; }
inline bool pausable_hybrid(const Geometry& g) { return pausable(g) && g.hybrid(); }
inline bool pausable_index(const Geometry& g) { return pausable(g) && g.kv.kind == KvKind::dsa; }

/// A builder that is wired otherwise.
inline SaverParts wired(Wiring wiring) {
  SaverParts parts;
  parts.builder = [wiring] { return std::make_unique<PoolBuilder>(wiring); };
  return parts;
}

template <typename Builder>
SaverParts with_builder() {
  SaverParts parts;
  parts.builder = [] { return std::make_unique<Builder>(); };
  return parts;
}

template <typename Saver>
SaverParts with_saver() {
  SaverParts parts;
  parts.saver = [](std::shared_ptr<VirtualMemory> memory, bool enabled) {
    return std::make_unique<Saver>(std::move(memory), enabled);
  };
  return parts;
}

template <typename Pools>
SaverParts with_pools() {
  SaverParts parts;
  parts.pools = [](const Geometry& g, std::unique_ptr<MemorySaver> saver, std::unique_ptr<PoolBuilder> builder) {
    return std::make_shared<Pools>(g, std::move(saver), std::move(builder));
  };
  return parts;
}

/// A twin of every layout that plants the fault.
template <template <typename> class Twin>
SaverParts with_twin() {
  SaverParts parts;
  parts.twin = [](const Geometry& g, std::shared_ptr<const Storage> storage) {
    return build_on_layout<Twin>(g, std::move(storage));
  };
  return parts;
}

}  // namespace poolproof
