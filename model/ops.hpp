// The ops of a trace: everything that a caller does to a KV-cache pool allocator (docs/trace-language.md).
//
// Ops name rows and ranges of positions, never raw locs, so one trace runs on any implementation and any subset of its
// ops still means something.
#pragma once

#include <array>
#include <bitset>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "model/geometry.hpp"
#include "model/units.hpp"

namespace poolproof::op {

/// `slot r0`: take a request slot (req_pool_idx) at admission.
struct SlotTake {
  Row row = 0;
  bool operator==(const SlotTake&) const = default;
};
/// `unslot r0`: give the request slot back; the row may live on as a cached prefix.
struct SlotGive {
  Row row = 0;
  bool operator==(const SlotGive&) const = default;
};
/// `alloc r0 0..8`: alloc(n); the locs become the row's next positions. Not offered by a paged hybrid pool.
struct Alloc {
  Row row = 0;
  Range range;
  bool operator==(const Alloc&) const = default;
};
/// `extend r0 0..600, r1 0..40`: one alloc_extend batch; each range is prefix_len..seq_len.
struct Extend {
  std::vector<Piece> pieces;
  bool operator==(const Extend&) const = default;
};
/// `decode r0, r1`: one alloc_decode batch; one token a row.
struct Decode {
  std::vector<Row> rows;
  bool operator==(const Decode&) const = default;
};
/// `tail r2 0..1000 swa=896..1000`: alloc_extend_swa_tail; SWA peers for the `swa` positions alone.
struct Tail {
  Row row = 0;
  Range range;
  Range swa;
  bool operator==(const Tail&) const = default;
};
/// `free`, `free_swa`, `free_full` `r0 0..4, r1 0..4`: one set-shaped call; a page named twice counts once.
struct Free {
  Side side = Side::both;
  std::vector<Piece> pieces;
  bool operator==(const Free&) const = default;
};
/// `free_segment`, `free_swa_segment`, `free_full_segment` `r0 0..8, 12..16`: page-aligned slices of one row,
/// ascending.
struct FreeSegment {
  Side side = Side::both;
  Row row = 0;
  std::vector<Range> ranges;
  bool operator==(const FreeSegment&) const = default;
};
/// `copy r1 0..256 = r0`: r1 shares these positions of r0 (a prefix hit, or a cache taking over). No allocator call.
struct Copy {
  Row to = 0;
  Range range;
  Row from = 0;
  bool operator==(const Copy&) const = default;
};
/// `drop r1 0..256`: r1 lets go of pages that another row still holds. No allocator call.
struct Drop {
  Row row = 0;
  Range range;
  bool operator==(const Drop&) const = default;
};
/// `trim r0 598`: tokens from 598 on are rejected inside their last page, which stays lent. No allocator call.
struct Trim {
  Row row = 0;
  Pos length = 0;
  bool operator==(const Trim&) const = default;
};
/// `remap r1 0..256 <- r0 4..260`: load-back or tombstone recovery. r0's peers become r1's (set_full_to_swa_mapping,
/// then clear_full_to_swa_mapping of r0's). In ring mode r1's entries are set to r0's ring rows; nothing is moved.
struct Remap {
  Row to = 0;
  Range range;
  Row from = 0;
  Pos from_begin = 0;
  bool operator==(const Remap&) const = default;
};
/// `unmap r0 0..4`: clear_full_to_swa_mapping of locs without a live peer.
struct Unmap {
  Row row = 0;
  Range range;
  bool operator==(const Unmap&) const = default;
};
/// `write r0 0..600`: the forward pass stores KV of these positions, through full locs and mapping or ring.
struct Write {
  Row row = 0;
  Range range;
  bool operator==(const Write&) const = default;
};
/// `read r0 0..600`: attention of the query at position end-1: full layers read the range, sliding layers its window.
struct Read {
  Row row = 0;
  Range range;
  bool operator==(const Read&) const = default;
};
/// `group {` (or `group_begin`): free_group_begin. `again`: a probe inside an open group; it must be rejected.
struct GroupBegin {
  bool again = false;
  bool operator==(const GroupBegin&) const = default;
};
/// `}` (or `group_end`): free_group_end. `again`: a probe outside a group; it must release nothing.
struct GroupEnd {
  bool again = false;
  bool operator==(const GroupEnd&) const = default;
};
/// `backup b0`: backup_state under a name.
struct Backup {
  std::uint32_t name = 0;
  bool operator==(const Backup&) const = default;
};
/// `restore b0`: restore_state of that name.
struct Restore {
  std::uint32_t name = 0;
  bool operator==(const Restore&) const = default;
};
/// `clear`: as new, request slots included; rows are empty and backups forgotten.
struct Clear {
  bool operator==(const Clear&) const = default;
};
/// `resize full=16p swa=8p`: new capacity, then as new.
struct Resize {
  Tokens full = 0;
  Tokens swa = 0;
  bool operator==(const Resize&) const = default;
};
/// `expect available full=15p swa=3p`, `expect slots 2`, `expect refused`, `expect served`: what the trace's author
/// says.
struct Expect {
  std::optional<Tokens> full;
  std::optional<Tokens> swa;
  std::optional<std::int64_t> slots;
  std::optional<bool> refused;  ///< of the op before
  bool operator==(const Expect&) const = default;
};

/// `pause kv_cache`: the memory under a tag goes back to the device, the addresses stay. Refused when any of it is
/// paused already. With `all`: under every tag.
struct Pause {
  MemoryTag tag = MemoryTag::kv_cache;
  bool operator==(const Pause&) const = default;
};
/// `resume kv_cache`: memory at the same addresses again. Refused when any of it is not paused.
struct Resume {
  MemoryTag tag = MemoryTag::kv_cache;
  bool operator==(const Resume&) const = default;
};
/// `destroy`: the pools are given up with their memory, paused or not; rows are empty and backups forgotten.
struct Destroy {
  bool operator==(const Destroy&) const = default;
};
/// `build`: the pools are built again, as new. A trace starts with built ones.
struct Build {
  bool operator==(const Build&) const = default;
};
/// `flush`: the engine's flush of its caches: the allocator is cleared, and the pools forget what they remember of KV.
struct Flush {
  bool operator==(const Flush&) const = default;
};

}  // namespace poolproof::op

namespace poolproof {

using Op = std::variant<op::SlotTake, op::SlotGive, op::Alloc, op::Extend, op::Decode, op::Tail, op::Free,
                        op::FreeSegment, op::Copy, op::Drop, op::Trim, op::Remap, op::Unmap, op::Write, op::Read,
                        op::GroupBegin, op::GroupEnd, op::Backup, op::Restore, op::Clear, op::Resize, op::Expect,
                        op::Pause, op::Resume, op::Destroy, op::Build, op::Flush>;

/// The words that open a line of a trace: finer than the variant's index (three sides of each free, the probes).
enum class OpWord : std::uint8_t {
  slot,
  unslot,
  alloc,
  extend,
  decode,
  tail,
  free,
  free_swa,
  free_full,
  free_segment,
  free_swa_segment,
  free_full_segment,
  copy,
  drop,
  trim,
  remap,
  unmap,
  write,
  read,
  group_begin,
  group_begin_again,
  group_end,
  group_end_again,
  backup,
  restore,
  clear,
  resize,
  expect,
  pause,
  resume,
  destroy,
  build,
  flush,
};
inline constexpr std::size_t op_word_count = 33;

/// A set of words, by their number.
using OpWords = std::bitset<op_word_count>;

OpWord word_of(const Op& op);
/// "free_swa", "group_begin again", ...
std::string_view op_word_name(OpWord word);

/// Rows are r0..r65535, backups b0..b255.
inline constexpr Row max_rows = 65536;
inline constexpr std::uint32_t max_backups = 256;
/// Positions go up to this length.
inline constexpr Pos max_position = Pos{1} << 30;

/// Nothing, or why this op can never be part of a trace with this geometry (an op that the layout does not offer, an
/// empty range, a row number too large), as one sentence with the remedy. Protocol rules are not looked at here: those
/// depend on what happened before, and the reference machine blames the caller for them.
std::optional<std::string> op_fault(const Op& op, const Geometry& g);

/// A geometry and a list of ops. `lines[i]` is the line of op i in its file, or empty when it came from elsewhere.
struct Trace {
  Geometry geometry;
  std::vector<Op> ops;
  std::vector<std::uint32_t> lines;
};

}  // namespace poolproof
