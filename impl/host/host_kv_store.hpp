// A KV store in this process's memory, which is touched page by page as rows are written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "impl/host/kv_store.hpp"
#include "impl/host/zeroed_array.hpp"

namespace poolproof {

class HostKvStore final : public KvStore {
 public:
  explicit HostKvStore(std::int64_t rows) : stamps_(static_cast<std::size_t>(rows)) {}

  [[nodiscard]] std::unique_ptr<KvStore> clone() const override { return std::make_unique<HostKvStore>(*this); }
  bool assign(const KvStore& other) override {
    *this = static_cast<const HostKvStore&>(other);
    return true;
  }

  void store(std::span<const std::int64_t> rows, std::span<const Stamp> stamps) override {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      stamps_[static_cast<std::size_t>(rows[i])] = stamps[i];
    }
  }
  void load(std::span<const std::int64_t> rows, std::span<Stamp> out) const override {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      out[i] = stamps_[static_cast<std::size_t>(rows[i])];
    }
  }
  [[nodiscard]] std::span<const Stamp> rows() const override { return stamps_.span(); }

 private:
  ZeroedArray<Stamp> stamps_;
};

}  // namespace poolproof
