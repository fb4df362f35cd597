// What goes wrong below an allocator: in the storage of a twin, on a device.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace poolproof {

/// Thrown by a storage and its pieces and by a device, in any call but a destructor, when they cannot perform it. What
/// they hold is undefined from then on. It never leaves impl/: see impl/host/guarded_allocator.hpp.
class StorageError : public std::runtime_error {
 public:
  /// `text` is one line for people; `signature` tells one error from another when a trace is shrunk. `beyond_repair`:
  /// every further call fails as well, of other allocators too, and the process has to be started afresh.
  StorageError(const std::string& text, std::string signature, bool beyond_repair = false)
      : std::runtime_error(text), signature_(std::move(signature)), beyond_repair_(beyond_repair) {}

  [[nodiscard]] const std::string& signature() const { return signature_; }
  [[nodiscard]] bool beyond_repair() const { return beyond_repair_; }

 private:
  std::string signature_;
  bool beyond_repair_;
};

}  // namespace poolproof
