#include "impl/host/host.hpp"

namespace poolproof {
namespace {

std::unique_ptr<Allocator> build(const Geometry& geometry) {
  switch (geometry.layout) {
    case Layout::hybrid:
      return std::make_unique<HybridAllocator>(geometry);
    case Layout::pure_swa:
      return std::make_unique<PureSwaAllocator>(geometry);
    case Layout::token:
    case Layout::paged:
      break;
  }
  return std::make_unique<SingleAllocator>(geometry);
}

}  // namespace

Result<std::unique_ptr<Allocator>, std::string> make_host(const Geometry& geometry) {
  return build_checked(geometry, [&] { return build(geometry); });
}

}  // namespace poolproof
