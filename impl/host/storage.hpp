// Where a twin keeps its state: lists of pages, the mapping, KV. The steps of the twins, and so the mutants that
// override them, are the same on every storage; the one in this process's memory is the default.
#pragma once

#include <cstdint>
#include <memory>

#include "impl/host/kv_store.hpp"
#include "impl/host/mapping.hpp"
#include "impl/host/page_pool.hpp"
#include "impl/storage_error.hpp"

namespace poolproof {

class PoolMemory;

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
  /// Of the side's layers: rows 0..rows-1, all of which read 0.
  [[nodiscard]] virtual std::unique_ptr<KvStore> kv_store(Pool side, std::int64_t rows) const = 0;
  /// Not null: KV rows are in memory that can be paused.
  [[nodiscard]] virtual PoolMemory* memory() const { return nullptr; }
};

/// This process's memory. Its pieces throw nothing but std::bad_alloc, when they are made or copied.
std::shared_ptr<const Storage> host_storage();

}  // namespace poolproof
