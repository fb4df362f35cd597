// The contract: what poolproof drives. Implement this class to have your allocator checked (docs/adapter.md).
//
// Method names and meanings are the engine's (SGLang's TokenToKVPoolAllocator family; docs/semantics.md). Locs are slot
// indices; slot 0 (with paging, all of page 0) is padding and is never lent. Only what the geometry offers is called:
// the SWA and mapping methods on `hybrid` and `pure_swa` alone, the tail on `hybrid`, `alloc` not on a paged hybrid.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "model/breakdown.hpp"
#include "model/disagreement.hpp"
#include "model/geometry.hpp"
#include "model/observation.hpp"
#include "model/units.hpp"

namespace poolproof {

/// A slice row[start_pos : start_pos+locs.size()] of one request's row; start_pos is page-aligned.
struct Segment {
  std::span<const Loc> locs;
  Pos start_pos = 0;
};

class Foresight;
class PoolMemory;
class StateDigest;

class Allocator {
 public:
  Allocator() = default;
  virtual ~Allocator() = default;

  // For the explorer, which runs every sequence of ops and goes back to former states all the time. An implementation
  // without a copy or a digest cannot be explored.

  /// An independent copy in the same state, or null when this cannot be copied.
  [[nodiscard]] virtual std::unique_ptr<Allocator> clone() const = 0;
  /// Becomes a copy of `other`, a clone of this or of what this is a clone of. False: nothing was done, clone instead.
  /// What saves the explorer most of its time: buffers are kept.
  virtual bool assign(const Allocator& /*other*/) { return false; }
  /// All that later answers depend on (model/state_digest.hpp): two states of one digest answer alike for ever. What
  /// is left out, the explorer takes for the same in all states. False: this does not show it.
  virtual bool digest(StateDigest& /*out*/) const { return false; }

  // Lending. served: `out` holds exactly the new locs, in order. refused: it does not fit, nothing changed in either
  // pool and `out` is ignored. `out` is reused between calls; resize it only once the call is known to fit.

  /// `tokens` slots; paged: a multiple of the page size, whole pages.
  virtual Answer alloc(Tokens tokens, Locs& out) = 0;
  /// Positions prefix_lens[i]..seq_lens[i]-1 of each request i, in batch order. last_locs[i] is -1 iff the prefix is 0.
  virtual Answer alloc_extend(std::span<const Pos> prefix_lens, std::span<const Pos> seq_lens,
                              std::span<const Loc> last_locs, Locs& out) = 0;
  /// One loc a request, for position seq_lens[i]-1.
  virtual Answer alloc_decode(std::span<const Pos> seq_lens, std::span<const Loc> last_locs, Locs& out) = 0;
  /// One request; SWA peers only for positions [tail_end-tail_len, tail_end), all other new locs have peer 0.
  virtual Answer alloc_extend_swa_tail(Pos prefix_len, Pos seq_len, Loc last_loc, Tokens tail_len, Pos tail_end,
                                       Locs& out) = 0;

  // Giving back. Index arrays belong to the caller again as soon as the call returns.

  /// free / free_swa / free_full by side: set-shaped; any loc of a page releases the page, duplicates count once.
  virtual Answer free(Side side, std::span<const Loc> locs) = 0;
  /// free_segment(s) / free_swa_segment / free_full_segment by side: ascending segments of one row, no shared page.
  virtual Answer free_segments(Side side, std::span<const Segment> segments) = 0;
  /// refused: a group is open already and stays as it is.
  virtual Answer free_group_begin() = 0;
  /// refused: no group is open; nothing is released.
  virtual Answer free_group_end() = 0;

  // The mapping.

  virtual Answer set_full_to_swa_mapping(std::span<const Loc> full, std::span<const Loc> swa) = 0;
  virtual Answer clear_full_to_swa_mapping(std::span<const Loc> full) = 0;
  /// out[i] = mapping[full[i]].
  virtual Answer translate_loc_from_full_to_swa(std::span<const Loc> full, std::span<Loc> out) = 0;

  // The whole state.

  /// As new, request slots included.
  virtual Answer clear() = 0;
  /// New capacity in tokens, then as new.
  virtual Answer resize(Tokens full, Tokens swa) = 0;
  /// Remembers free, staged and mapping under a key; restore_state brings exactly that back, as often as asked.
  virtual Answer backup_state(std::uint32_t key) = 0;
  virtual Answer restore_state(std::uint32_t key) = 0;

  // Request slots (req_pool_idx).

  /// served: `slot` is the index taken. refused: none is free.
  virtual Answer take_slot(std::int64_t& slot) = 0;
  virtual Answer give_slot(std::int64_t slot) = 0;

  // KV storage: one stamp a token, reached exactly as attention would. `slot` is the row's request slot or -1, and
  // `first_pos` the position of full_locs[0]: the ring is addressed by slot * ring + pos % ring.

  virtual Answer write_full(std::span<const Loc> full_locs, std::span<const Stamp> stamps) = 0;
  virtual Answer read_full(std::span<const Loc> full_locs, std::span<Stamp> out) = 0;
  virtual Answer write_swa(std::span<const Loc> full_locs, std::int64_t slot, Pos first_pos,
                           std::span<const Stamp> stamps) = 0;
  virtual Answer read_swa(std::span<const Loc> full_locs, std::int64_t slot, Pos first_pos, std::span<Stamp> out) = 0;

  // What the checks look at.

  /// The counters; read after every op, so cheap.
  virtual Answer gauges(Gauges& out) = 0;
  /// The lists and the mapping. refused: this implementation does not show them, and the census checks are skipped.
  virtual Answer census(Census& out) = 0;
  /// After an answer `failed`: what happened, in one line.
  [[nodiscard]] virtual std::string failure() const { return {}; }
  /// After an answer `failed`: the breakdown that it was, or nothing: then it says nothing about the allocator.
  [[nodiscard]] virtual std::optional<Breakdown> breakdown() const { return std::nullopt; }
  /// After an answer `failed`: true when this process cannot be used again and must be started afresh, as after an
  /// error that spoils a device's context.
  [[nodiscard]] virtual bool beyond_repair() const { return false; }
  /// After an answer `failed` of replicas (impl/ranks.hpp): what one of them answered otherwise than the others.
  [[nodiscard]] virtual std::optional<Disagreement> disagreement() const { return std::nullopt; }

  /// Not null: it answers many calls in one exchange when it is told ahead what will be called.
  [[nodiscard]] virtual Foresight* foresight() { return nullptr; }

  /// Not null: it builds the memory of its pools, as the geometry's `kv` says (impl/pool_memory.hpp).
  [[nodiscard]] virtual PoolMemory* memory() { return nullptr; }

 protected:
  Allocator(const Allocator&) = default;
  Allocator(Allocator&&) = default;
  Allocator& operator=(const Allocator&) = default;
  Allocator& operator=(Allocator&&) = default;
};

}  // namespace poolproof
