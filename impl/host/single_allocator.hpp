// One pool: the engine's TokenToKVPoolAllocator (page size 1) and PagedTokenToKVPoolAllocator.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "impl/host/host_allocator.hpp"

namespace poolproof {

class SingleAllocator : public HostAllocator {
 public:
  explicit SingleAllocator(const Geometry& geometry, std::shared_ptr<const Storage> storage = host_storage())
      : HostAllocator(geometry, std::move(storage)) {}

  [[nodiscard]] std::unique_ptr<Allocator> clone() const override;
  bool assign(const Allocator& other) override;
  bool digest(StateDigest& out) const override;

  Answer alloc(Tokens tokens, Locs& out) override;
  Answer alloc_extend(std::span<const Pos> prefix_lens, std::span<const Pos> seq_lens, std::span<const Loc> last_locs,
                      Locs& out) override;
  Answer alloc_decode(std::span<const Pos> seq_lens, std::span<const Loc> last_locs, Locs& out) override;

  Answer clear() override;
  Answer resize(Tokens full, Tokens swa) override;
  Answer backup_state(std::uint32_t key) override;
  Answer restore_state(std::uint32_t key) override;

 protected:
  void free_pages(Side side, std::span<const Page> full_pages) override;

 private:
  std::map<std::uint32_t, PageLists> snapshots_;
};

}  // namespace poolproof
