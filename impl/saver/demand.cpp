#include "impl/saver/demand.hpp"

#include <array>
#include <string>

#include "impl/storage_error.hpp"

namespace poolproof {

void demand(const SaverFault& fault) {
  if (fault) {
    static constexpr std::array names{"already paused", "not paused",     "touched while paused", "out of range",
                                      "unknown tag",    "unknown buffer", "out of memory",        "device"};
    throw StorageError(fault->text, std::string("saver:") + names.at(static_cast<std::size_t>(fault->kind)));
  }
}

}  // namespace poolproof
