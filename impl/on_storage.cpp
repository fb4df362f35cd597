#include "impl/on_storage.hpp"

#include <utility>

#include "impl/host/guarded_allocator.hpp"

namespace poolproof {

void make_anywhere(ImplInfo& info, decltype(ImplInfo::make_on) make_on) {
  info.make = [make_on](const Geometry& g) { return make_on(g, host_storage()); };
  info.make_on = std::move(make_on);
}

ImplInfo on_storage(const ImplInfo& impl, const std::string& prefix, OpenStorage open) {
  ImplInfo info = impl;
  info.name = prefix + ":" + impl.name;
  info.make_on = {};
  info.make = [name = info.name, make_on = impl.make_on,
               open = std::move(open)](const Geometry& g) -> Result<std::unique_ptr<Allocator>, std::string> {
    if (!make_on) {
      return name + ": this implementation has no storage to replace";
    }
    Result<std::shared_ptr<const Storage>, std::string> storage = open();
    if (!storage) {
      return storage.error();
    }
    Result<std::unique_ptr<Allocator>, std::string> inner = make_on(g, std::move(storage).value());
    if (!inner) {
      return inner.error();
    }
    return std::unique_ptr<Allocator>(std::make_unique<GuardedAllocator>(std::move(inner).value()));
  };
  return info;
}

}  // namespace poolproof
