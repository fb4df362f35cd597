// Every layer slides: one token pool whose locs are SWA locs as well. The mapping is the identity and cannot be edited.
#pragma once

#include <memory>

#include "impl/host/single_allocator.hpp"

namespace poolproof {

class PureSwaAllocator : public SingleAllocator {
 public:
  explicit PureSwaAllocator(const Geometry& geometry, std::shared_ptr<const Storage> storage = host_storage());

  [[nodiscard]] std::unique_ptr<Allocator> clone() const override;
  bool assign(const Allocator& other) override;
  bool digest(StateDigest& out) const override;

  /// refused: the identity cannot be edited.
  Answer set_full_to_swa_mapping(std::span<const Loc> full, std::span<const Loc> swa) override;
  Answer clear_full_to_swa_mapping(std::span<const Loc> full) override;
  Answer translate_loc_from_full_to_swa(std::span<const Loc> full, std::span<Loc> out) override;

  Answer resize(Tokens full, Tokens swa) override;
  Answer write_swa(std::span<const Loc> full_locs, std::int64_t slot, Pos first_pos,
                   std::span<const Stamp> stamps) override;
  Answer read_swa(std::span<const Loc> full_locs, std::int64_t slot, Pos first_pos, std::span<Stamp> out) override;
  Answer gauges(Gauges& out) override;

 protected:
  void free_pages(Side side, std::span<const Page> full_pages) override;

 private:
  [[nodiscard]] Cloned<KvStore> new_swa_kv() const;

  Cloned<KvStore> swa_kv_;
};

}  // namespace poolproof
