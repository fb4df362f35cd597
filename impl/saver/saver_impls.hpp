// Implementations that build the memory of their pools: the host twin's allocator, its KV in the regions of a memory
// saver, on this process's memory (`saver`) or on a GPU (`cuda-saver`).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "impl/mutants/mutant.hpp"
#include "impl/registry.hpp"
#include "impl/saver/memory_saver.hpp"
#include "impl/saver/pool_builder.hpp"
#include "impl/saver/saved_pools.hpp"
#include "impl/saver/virtual_memory.hpp"

namespace poolproof {

/// What such an implementation is put together from. A mutant replaces one of them; what is empty is the right one.
struct SaverParts {
  std::function<std::unique_ptr<MemorySaver>(std::shared_ptr<VirtualMemory>, bool enabled)> saver = {};
  std::function<std::unique_ptr<PoolBuilder>()> builder = {};
  std::function<std::shared_ptr<SavedPools>(const Geometry&, std::unique_ptr<MemorySaver>,
                                            std::unique_ptr<PoolBuilder>)>
      pools = {};
  std::function<std::unique_ptr<Allocator>(const Geometry&, std::shared_ptr<const Storage>)> twin = {};
  bool kv_elsewhere = false;  ///< KV is not kept in the pools
};

/// A planted fault of the memory behind the pools.
struct SaverMutant {
  MutantFacts facts;
  SaverParts parts;
};

/// Puts the pools of a geometry together on this memory; throws StorageError.
std::shared_ptr<SavedPools> make_saved_pools(const Geometry& g, std::shared_ptr<VirtualMemory> memory,
                                             const SaverParts& parts = {});

/// What is behind an implementation's name ("saver", "cuda-saver", a mutant's, "cuda-saver:" and a mutant's), for who
/// drives the pools without an allocator.
struct SaverTarget {
  SaverParts parts;
  std::shared_ptr<VirtualMemory> memory;
};
/// Nothing when no implementation of that name builds memory; else the target, or why its memory cannot be had.
std::optional<Result<SaverTarget, std::string>> open_saver(std::string_view impl);

/// The implementation of these parts on memory that exists already, and is left behind as it was found.
ImplInfo saver_on(const std::string& name, std::shared_ptr<VirtualMemory> memory, const SaverParts& parts);

ImplInfo saver_impl();
ImplInfo cuda_saver_impl();
/// Each mutant on the host, by its bare name.
std::vector<ImplInfo> saver_mutant_impls();
/// Each on a GPU, "cuda-saver:NAME".
std::vector<ImplInfo> cuda_saver_mutant_impls();

/// For mutants of an allocator: the pools behind its storage.
const SavedPools& saved_pools(const Storage& storage);

}  // namespace poolproof
