// Implementations whose state is kept by a storage: built on this process's memory, or on another storage under a name
// of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "impl/host/storage.hpp"
#include "impl/registry.hpp"

namespace poolproof {

/// Fills `make_on`, and `make` as the same on host_storage().
void make_anywhere(ImplInfo& info, decltype(ImplInfo::make_on) make_on);

/// Opens the storage of one allocator, or answers why it cannot be had: "no device".
using OpenStorage = std::function<Result<std::shared_ptr<const Storage>, std::string>()>;

/// The implementation under the name "<prefix>:<name>", with its state on a storage that is opened for each allocator
/// built. An error of the storage is a breakdown (RAISED). Without `make_on` in `impl` it cannot be built, and says so.
ImplInfo on_storage(const ImplInfo& impl, const std::string& prefix, OpenStorage open);

}  // namespace poolproof
