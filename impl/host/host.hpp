// Builds the host twin that a geometry asks for.
#pragma once

#include <memory>
#include <string>

#include "impl/allocator.hpp"
#include "impl/host/hybrid_allocator.hpp"
#include "impl/host/pure_swa_allocator.hpp"
#include "impl/host/single_allocator.hpp"
#include "impl/host/storage.hpp"
#include "model/geometry.hpp"
#include "model/result.hpp"

namespace poolproof {

/// Answers what is wrong with the geometry, or that memory ran out, or what the storage says, as a sentence. On a
/// storage that can fail the twin's calls throw StorageError: guard it (impl/host/guarded_allocator.hpp).
Result<std::unique_ptr<Allocator>, std::string> make_host(const Geometry& geometry,
                                                          std::shared_ptr<const Storage> storage = host_storage());

/// Runs `build`, which makes an allocator; a lack of memory, or an error of its storage or device, becomes an error
/// sentence.
template <typename Build>
Result<std::unique_ptr<Allocator>, std::string> guarded(Build build) {
  try {
    return std::unique_ptr<Allocator>(build());
  } catch (const std::bad_alloc&) {
    return std::string("not enough memory for a pool of this size; take a smaller `full` or `swa`");
  } catch (const StorageError& error) {
    return std::string(error.what());
  }
}

/// Runs `build`, which makes an allocator of a checked geometry; a lack of memory becomes an error sentence.
template <typename Build>
Result<std::unique_ptr<Allocator>, std::string> build_checked(const Geometry& geometry, Build build) {
  if (auto fault = geometry_fault(geometry)) {
    return *fault;
  }
  return guarded(build);
}

}  // namespace poolproof
