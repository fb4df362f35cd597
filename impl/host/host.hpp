// Builds the host twin that a geometry asks for.
#pragma once

#include <memory>
#include <string>

#include "impl/allocator.hpp"
#include "impl/host/hybrid_allocator.hpp"
#include "impl/host/pure_swa_allocator.hpp"
#include "impl/host/single_allocator.hpp"
#include "model/geometry.hpp"
#include "model/result.hpp"

namespace poolproof {

/// Answers what is wrong with the geometry, or that memory ran out, as a sentence.
Result<std::unique_ptr<Allocator>, std::string> make_host(const Geometry& geometry);

/// Runs `build`, which makes an allocator; a lack of memory becomes an error sentence.
template <typename Build>
Result<std::unique_ptr<Allocator>, std::string> guarded(Build build) {
  try {
    return std::unique_ptr<Allocator>(build());
  } catch (const std::bad_alloc&) {
    return std::string("not enough memory for a pool of this size; take a smaller `full` or `swa`");
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
