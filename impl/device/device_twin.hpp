// DevicePools behind the contract: arguments go up, answers come down, and each call waits for both, so that an error
// of the device is known at the call that made it. Request slots are the host's, as in the engine.
#pragma once

#include <memory>
#include <vector>

#include "impl/allocator.hpp"
#include "impl/device/device_pools.hpp"
#include "impl/host/request_slots.hpp"

namespace poolproof {

class DeviceTwin final : public Allocator {
 public:
  explicit DeviceTwin(std::unique_ptr<DevicePools> pools);

  [[nodiscard]] std::unique_ptr<Allocator> clone() const override;
  bool assign(const Allocator& other) override;
  bool digest(StateDigest& out) const override;

  Answer alloc(Tokens tokens, Locs& out) override;
  Answer alloc_extend(std::span<const Pos> prefix_lens, std::span<const Pos> seq_lens, std::span<const Loc> last_locs,
                      Locs& out) override;
  Answer alloc_decode(std::span<const Pos> seq_lens, std::span<const Loc> last_locs, Locs& out) override;
  Answer alloc_extend_swa_tail(Pos prefix_len, Pos seq_len, Loc last_loc, Tokens tail_len, Pos tail_end,
                               Locs& out) override;
  Answer free(Side side, std::span<const Loc> locs) override;
  Answer free_segments(Side side, std::span<const Segment> segments) override;
  Answer free_group_begin() override;
  Answer free_group_end() override;
  Answer set_full_to_swa_mapping(std::span<const Loc> full, std::span<const Loc> swa) override;
  Answer clear_full_to_swa_mapping(std::span<const Loc> full) override;
  Answer translate_loc_from_full_to_swa(std::span<const Loc> full, std::span<Loc> out) override;
  Answer clear() override;
  Answer resize(Tokens full, Tokens swa) override;
  Answer backup_state(std::uint32_t key) override;
  Answer restore_state(std::uint32_t key) override;
  Answer take_slot(std::int64_t& slot) override;
  Answer give_slot(std::int64_t slot) override;
  Answer write_full(std::span<const Loc> full_locs, std::span<const Stamp> stamps) override;
  Answer read_full(std::span<const Loc> full_locs, std::span<Stamp> out) override;
  Answer write_swa(std::span<const Loc> full_locs, std::int64_t slot, Pos first_pos,
                   std::span<const Stamp> stamps) override;
  Answer read_swa(std::span<const Loc> full_locs, std::int64_t slot, Pos first_pos, std::span<Stamp> out) override;
  Answer gauges(Gauges& out) override;
  Answer census(Census& out) override;
  [[nodiscard]] std::string failure() const override;

 private:
  DeviceTwin(const DeviceTwin& other);

  /// Numbers of one call, in device memory until the next one.
  struct Uploads {
    DeviceArray<std::int64_t> first;
    DeviceArray<std::int64_t> second;
    DeviceArray<std::int64_t> third;
    DeviceArray<Stamp> stamps;
  };

  [[nodiscard]] const Geometry& geo() const { return pools_->geometry(); }
  const std::int64_t* up(DeviceArray<std::int64_t>& array, std::span<const std::int64_t> values);
  Loc* room(Tokens tokens);
  Answer bring(Answer answer, Tokens tokens, Locs& out);
  kernels::StampBatch stamp_batch(std::span<const Loc> locs, std::int64_t slot, Pos first_pos);
  Stamp* stamp_room(std::size_t count);

  std::unique_ptr<DevicePools> pools_;
  RequestSlots slots_;
  Uploads uploads_;
  DeviceArray<Loc> out_;
  std::vector<Loc> mapping_;    ///< of the last census
  std::vector<Loc> call_locs_;  ///< scratch
  std::vector<DeviceSegment> segments_;
};

/// Pools of more tokens do not show their lists unless the census on the device finds something: looking at them takes
/// longer than all that is done with them.
inline constexpr Tokens most_tokens_shown = Tokens{1} << 22;

}  // namespace poolproof
