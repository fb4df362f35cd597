// Where a twin keeps its state: lists of pages, the mapping, KV. The steps of the twins, and so the mutants that
// override them, are the same on every storage; the one in this process's memory is the default.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "impl/host/kv_store.hpp"
#include "impl/host/mapping.hpp"
#include "impl/host/page_pool.hpp"

namespace poolproof {

/// Thrown by a storage and its pieces, in any call but a destructor, when they cannot perform it: an error of a device.
/// What they hold is undefined from then on. It never leaves impl/: see impl/host/guarded_allocator.hpp.
class StorageError : public std::runtime_error {
 public:
  /// `text` is one line for people; `signature` tells one error from another when a trace is shrunk.
  StorageError(const std::string& text, std::string signature)
      : std::runtime_error(text), signature_(std::move(signature)) {}

  [[nodiscard]] const std::string& signature() const { return signature_; }

 private:
  std::string signature_;
};

/// Makes the pieces of a twin. It outlives them: whoever holds a piece holds its storage too.
class Storage {
 public:
  Storage() = default;
  virtual ~Storage() = default;
  Storage(const Storage&) = delete;
  Storage(Storage&&) = delete;
  Storage& operator=(const Storage&) = delete;
  Storage& operator=(Storage&&) = delete;

  /// Arguments as of PagePool's constructor.
  [[nodiscard]] virtual std::unique_ptr<PagePool> page_pool(Tokens size, Tokens page, bool need_sort) const = 0;
  /// As after Mapping::reset(length).
  [[nodiscard]] virtual std::unique_ptr<Mapping> mapping(std::int64_t length) const = 0;
  /// Rows 0..rows-1, all of which read 0.
  [[nodiscard]] virtual std::unique_ptr<KvStore> kv_store(std::int64_t rows) const = 0;
};

/// This process's memory. Its pieces throw nothing but std::bad_alloc, when they are made or copied.
std::shared_ptr<const Storage> host_storage();

}  // namespace poolproof
