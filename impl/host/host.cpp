#include "impl/host/host.hpp"

#include <utility>

namespace poolproof {
namespace {

std::unique_ptr<Allocator> build(const Geometry& geometry, std::shared_ptr<const Storage> storage) {
  switch (geometry.layout) {
    case Layout::hybrid:
      return std::make_unique<HybridAllocator>(geometry, std::move(storage));
    case Layout::pure_swa:
      return std::make_unique<PureSwaAllocator>(geometry, std::move(storage));
    case Layout::token:
    case Layout::paged:
      break;
  }
  return std::make_unique<SingleAllocator>(geometry, std::move(storage));
}

}  // namespace

Result<std::unique_ptr<Allocator>, std::string> make_host(const Geometry& geometry,
                                                          std::shared_ptr<const Storage> storage) {
  return build_checked(geometry, [&] { return build(geometry, std::move(storage)); });
}

}  // namespace poolproof
