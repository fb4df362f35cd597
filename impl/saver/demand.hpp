// Faults of a saver as the storage error that they are to whoever cannot answer them.
#pragma once

#include <utility>

#include "impl/saver/virtual_memory.hpp"
#include "model/result.hpp"

namespace poolproof {

/// Throws StorageError when there is a fault.
void demand(const SaverFault& fault);

/// The value, or the error thrown.
template <typename Value>
Value demand(Result<Value, SaverError> result) {
  if (!result) {
    demand(SaverFault(result.error()));
  }
  return std::move(result).value();
}

}  // namespace poolproof
