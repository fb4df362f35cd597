// Proposals: for each op word, an op that makes sense as the trace stands. A proposal follows the protocol in nearly
// all cases; the machine has the last word on it (Machine::admits).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/machine.hpp"
#include "model/ops.hpp"
#include "props/choices.hpp"
#include "props/shadow.hpp"
#include "props/swarm.hpp"

namespace poolproof {

/// What a proposal looks at.
struct Scene {
  const Geometry& geo;
  const Machine& machine;
  const Shadow& shadow;
  const Swarm& swarm;
  Choices& choices;
  bool filling = false;  ///< the pool shall fill up: larger pieces
  OpWord last = OpWord::expect;

  /// True one time in n (n >= 2); never on an empty tape.
  [[nodiscard]] bool seldom(std::uint64_t n) const { return choices.draw(n) == n - 1; }
  [[nodiscard]] Pos page_floor(Pos pos) const { return pos / geo.page * geo.page; }
  [[nodiscard]] Pos page_ceil(Pos pos) const { return geo.pages_of(pos) * geo.page; }
  /// Below this, window eviction may give SWA back (C8).
  [[nodiscard]] Pos window_bound(Row row) const;
  /// Has the row's page at this index a live peer at either end? Only paired hybrids have peers.
  [[nodiscard]] bool peered(Row row, std::int64_t index) const;

  /// One of the trace's rows for which `good` holds, or nothing.
  template <typename Good>
  [[nodiscard]] std::optional<Row> pick_row(Good good) const {
    std::uint64_t count = 0;
    for (Row row = 0; row < swarm.rows(); ++row) {
      count += good(row) ? 1 : 0;
    }
    if (count == 0) {
      return std::nullopt;
    }
    std::uint64_t skip = choices.draw(count);
    for (Row row = 0;; ++row) {
      if (good(row) && skip-- == 0) {
        return row;
      }
    }
  }
};

/// Indices [begin, end) of pages in a row.
struct PageRun {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  [[nodiscard]] std::int64_t size() const { return end - begin; }
};

/// A run of the row's pages for which `good` holds, as long as can be, chosen among all such runs; or nothing.
template <typename Good>
std::optional<PageRun> pick_run(const Scene& scene, Row row, Good good) {
  const std::int64_t pages = scene.shadow.row_pages(row);
  std::uint64_t count = 0;
  bool inside = false;
  for (std::int64_t index = 0; index < pages; ++index) {
    const bool now = good(index);
    count += now && !inside ? 1 : 0;
    inside = now;
  }
  if (count == 0) {
    return std::nullopt;
  }
  std::uint64_t skip = scene.choices.draw(count) + 1;
  std::int64_t begin = 0;
  inside = false;
  for (std::int64_t index = 0; index < pages; ++index) {
    const bool now = good(index);
    if (now && !inside && --skip == 0) {
      begin = index;
      break;
    }
    inside = now;
  }
  std::int64_t end = begin + 1;
  while (end < pages && good(end)) {
    ++end;
  }
  return PageRun{begin, end};
}

/// Part of a run: all of it most often, else its head, its tail, one page or a piece of the middle.
PageRun cut_run(const Scene& scene, PageRun run);

/// An op of this word, or nothing when the trace offers none now.
std::optional<Op> propose(OpWord word, const Scene& scene);

// One a kind, and those that a habit asks for on one row.

std::optional<Op> propose_alloc(const Scene& scene);
std::optional<Op> propose_extend(const Scene& scene);
std::optional<Op> propose_decode(const Scene& scene);
std::optional<Op> propose_tail(const Scene& scene);

std::optional<Op> propose_free(const Scene& scene, Side side);
std::optional<Op> propose_free_segment(const Scene& scene, Side side);
/// The whole row.
std::optional<Op> propose_free_row(const Scene& scene, Row row);
/// The row's pages from position `from` (page-aligned) on.
std::optional<Op> propose_free_from(const Scene& scene, Row row, Pos from);
/// What left the row's window, set-shaped or as a segment.
std::optional<Op> propose_evict(const Scene& scene, Row row);

std::optional<Op> propose_copy(const Scene& scene);
/// To an empty cache row.
std::optional<Op> propose_hand_over(const Scene& scene, Row from);
std::optional<Op> propose_drop(const Scene& scene);
/// Pages of this row that others hold too.
std::optional<Op> propose_drop_row(const Scene& scene, Row row);
std::optional<Op> propose_trim(const Scene& scene);
std::optional<Op> propose_remap(const Scene& scene);
std::optional<Op> propose_unmap(const Scene& scene);

std::optional<Op> propose_write(const Scene& scene);
std::optional<Op> propose_write_row(const Scene& scene, Row row);
std::optional<Op> propose_read(const Scene& scene);
std::optional<Op> propose_read_row(const Scene& scene, Row row);

}  // namespace poolproof
