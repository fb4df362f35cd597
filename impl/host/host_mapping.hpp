// A mapping in this process's memory, which is touched page by page as locs are paired.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "impl/host/mapping.hpp"
#include "impl/host/zeroed_array.hpp"

namespace poolproof {

class HostMapping final : public Mapping {
 public:
  /// `length` as Geometry::mapping_length() has it.
  explicit HostMapping(std::int64_t length) { HostMapping::reset(length); }

  [[nodiscard]] std::unique_ptr<Mapping> clone() const override;
  bool assign(const Mapping& other) override {
    *this = static_cast<const HostMapping&>(other);
    return true;
  }
  void reset(std::int64_t length) override;
  void translate(std::span<const Loc> full, std::span<Loc> out) const override;
  void pair(std::span<const Loc> full, std::span<const Loc> swa) override;
  void clear(std::span<const Loc> full) override;
  void clear_pages(std::span<const Page> full_pages, Tokens page) override;
  void peer_pages(std::span<const Page> full_pages, Tokens page, std::vector<Page>& out) const override;
  [[nodiscard]] Loc tail() const override { return entries_[entries_.size() - 1]; }
  [[nodiscard]] std::span<const Loc> entries() const override { return entries_.span(); }

 private:
  [[nodiscard]] std::size_t index(Loc full) const {
    return full < 0 ? entries_.size() - 1 : static_cast<std::size_t>(full);
  }

  ZeroedArray<Loc> entries_;
};

}  // namespace poolproof
