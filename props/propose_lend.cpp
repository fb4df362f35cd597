// Lending: sizes are drawn on purpose, around page borders, window and ring borders and what the pool has left.
#include <algorithm>
#include <limits>

#include "props/propose.hpp"

namespace poolproof {
namespace {

constexpr std::int64_t longest_row_pools = 3;  ///< a row with holes may be longer than its pool, but not without end

/// Pages that a lending op can still have.
std::int64_t pages_left(const Scene& scene) {
  const std::int64_t full = scene.machine.full_free_pages();
  return scene.geo.paired() ? std::min(full, scene.machine.swa_free_pages()) : full;
}

bool short_enough(const Scene& scene, Row row) {
  return scene.shadow.row_pages(row) <= longest_row_pools * scene.machine.full_size() / scene.geo.page + 2;
}

/// C7: the last loc's SWA page is live and serves this page alone.
bool extendable(const Scene& scene, Row row) {
  const RowMemo& memo = scene.shadow.row(row);
  if (!short_enough(scene, row)) {
    return false;
  }
  if (!scene.geo.paired() || memo.length == 0) {
    return true;
  }
  return scene.shadow.memo(memo.pages.back()).bond == 0 && scene.machine.row_peer_live(row, memo.length - 1);
}

/// `pos`, the position before or the one behind.
Pos around(const Scene& scene, Pos pos) {
  const auto step = static_cast<Pos>(scene.choices.draw(3));
  return step == 2 ? pos - 1 : pos + step;
}

/// The next multiple of `step` behind `length`, shifted so that `base` is one.
Pos next_border(Pos length, Pos base, Pos step) {
  if (length < base) {
    return base;
  }
  return base + ((length - base) / step + 1) * step;
}

/// A new end for a row of this length, with `left` pages to be had: a border worth meeting, whether it fits or not.
Pos draw_border(const Scene& scene, Pos length, std::int64_t left) {
  const Tokens page = scene.geo.page;
  const Pos border = scene.page_floor(length) + page;
  const Pos most = (scene.geo.pages_of(length) + left) * page;
  switch (scene.choices.draw(scene.filling ? 12 : 16)) {
    case 0:
      return length + 1;
    case 1:
      return border;
    case 2:
      return border - 1;
    case 3:
      return border + 1;
    case 4:
      return border + page * scene.choices.between(0, 2);
    case 5:
      return most;
    case 6:
      return most - page + 1;
    case 7:
      return scene.choices.odds(1, 2) ? most + 1 : most + page;
    case 8:
      return scene.geo.sliding() ? around(scene, next_border(length, scene.geo.window, page)) : border + page;
    case 9:
      return scene.geo.ringed() ? around(scene, next_border(length, scene.geo.ring, scene.geo.ring)) : border + page;
    case 10:
      return border + scene.choices.between(1, 2 * page);
    case 11:
      return length + scene.choices.between(1, std::max<Pos>(1, left * page));
    case 12:
      return length + scene.choices.between(1, page);
    default:
      return length + scene.choices.between(1, 4);
  }
}

/// A new end behind `length`. Most of what would not fit is cut down to what does, so that refusals stay a minority.
Pos draw_end(const Scene& scene, Pos length, std::int64_t left) {
  const Pos most = (scene.geo.pages_of(length) + left) * scene.geo.page;
  const Pos end = std::max(length + 1, draw_border(scene, length, left));
  const bool cut = end > most && most > length && scene.choices.draw(4) != 3;
  return cut ? most : end;
}

std::size_t draw_batch(const Scene& scene) {
  switch (scene.choices.draw(8)) {
    case 5:
    case 6:
      return static_cast<std::size_t>(scene.choices.between(1, static_cast<std::int64_t>(scene.swarm.batch)));
    case 7:
      return static_cast<std::size_t>(scene.choices.between(1, scene.swarm.rows()));
    default:
      return 1;
  }
}

/// Up to `count` different rows that can be continued; requests, now and then cached prefixes too.
template <typename Good>
std::vector<Row> draw_rows(const Scene& scene, std::size_t count, Good good) {
  const Row limit = scene.seldom(6) ? scene.swarm.rows() : scene.swarm.running;
  std::vector<Row> rows;
  rows.reserve(count);
  while (rows.size() < count) {
    const auto row = scene.pick_row(
        [&](Row r) { return r < limit && good(r) && std::find(rows.begin(), rows.end(), r) == rows.end(); });
    if (!row) {
      break;
    }
    rows.push_back(*row);
  }
  return rows;
}

/// Start of a tail's SWA part: the window's page, the last page, or any in between.
Pos draw_tail_start(const Scene& scene, Pos first, Pos end) {
  switch (scene.choices.draw(4)) {
    case 1:
      return scene.page_floor(end - 1);
    case 2:
      return first + scene.geo.page * scene.choices.between(0, (end - 1 - first) / scene.geo.page);
    case 3:
      return first;
    default:
      return std::max(first, scene.page_floor(std::max<Pos>(0, end - scene.geo.window)));
  }
}

}  // namespace

std::optional<Op> propose_alloc(const Scene& scene) {
  const auto row =
      scene.pick_row([&](Row r) { return scene.shadow.row(r).length % scene.geo.page == 0 && short_enough(scene, r); });
  if (!row) {
    return std::nullopt;
  }
  const Pos length = scene.shadow.row(*row).length;
  const Pos end = scene.page_ceil(draw_end(scene, length, pages_left(scene)));
  return op::Alloc{*row, {length, end}};
}

std::optional<Op> propose_extend(const Scene& scene) {
  const std::vector<Row> rows = draw_rows(scene, draw_batch(scene), [&](Row r) { return extendable(scene, r); });
  if (rows.empty()) {
    return std::nullopt;
  }
  op::Extend extend;
  extend.pieces.reserve(rows.size());
  std::int64_t left = pages_left(scene);
  for (const Row row : rows) {
    const Pos length = scene.shadow.row(row).length;
    const Pos end = draw_end(scene, length, left);
    extend.pieces.push_back({row, {length, end}});
    left = std::max<std::int64_t>(0, left - scene.geo.pages_of(end) + scene.geo.pages_of(length));
  }
  return extend;
}

std::optional<Op> propose_decode(const Scene& scene) {
  // A request's first token may come from a decode too: its last loc is -1.
  const bool empty_too = scene.seldom(8);
  std::vector<Row> rows = draw_rows(scene, draw_batch(scene), [&](Row r) {
    return (empty_too || scene.shadow.row(r).length > 0) && extendable(scene, r);
  });
  return rows.empty() ? std::nullopt : std::optional<Op>(op::Decode{std::move(rows)});
}

std::optional<Op> propose_tail(const Scene& scene) {
  const auto row = scene.pick_row([&](Row r) { return short_enough(scene, r); });
  if (!row) {
    return std::nullopt;
  }
  const Pos length = scene.shadow.row(*row).length;
  const Pos first = scene.page_ceil(length);
  const Pos longer = scene.choices.odds(1, 2) ? scene.geo.page * scene.choices.between(0, 3) : 0;
  const Pos end = std::max(first + 1, draw_end(scene, length, scene.machine.full_free_pages()) + longer);
  const Pos start = draw_tail_start(scene, first, end);
  const Pos swa_end = scene.seldom(6) ? scene.choices.between(start + 1, end) : end;
  return op::Tail{*row, {length, end}, {start, swa_end}};
}

}  // namespace poolproof
