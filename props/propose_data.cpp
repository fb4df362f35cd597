// KV: writes of what was lent, reads of what was written.
#include <algorithm>

#include "props/propose.hpp"

namespace poolproof {
namespace {

bool has_storage(const Scene& scene, Row row) { return !scene.geo.ringed() || scene.shadow.row(row).slot; }

bool writable(const Scene& scene, Row row) { return has_storage(scene, row) && scene.shadow.row(row).length > 0; }

/// Where a query may stand: at the row's end most often, else before it, at a page border or anywhere.
Pos draw_read_end(const Scene& scene, Row row) {
  const RowMemo& memo = scene.shadow.row(row);
  switch (scene.choices.draw(6)) {
    case 3:
      return std::max<Pos>(1, scene.page_floor(memo.length));
    case 4:
      return scene.choices.between(1, memo.length);
    default:
      return memo.write_from > 0 ? memo.write_from : memo.length;
  }
}

}  // namespace

std::optional<Op> propose_write_row(const Scene& scene, Row row) {
  if (!writable(scene, row)) {
    return std::nullopt;
  }
  const RowMemo& memo = scene.shadow.row(row);
  const Pos lowest = scene.shadow.live_from(row, memo.length);
  const Pos fresh = std::max(memo.write_from, lowest);
  return fresh < memo.length ? std::optional<Op>(op::Write{row, {fresh, memo.length}}) : std::nullopt;
}

std::optional<Op> propose_write(const Scene& scene) {
  const auto fresh = scene.pick_row(
      [&](Row r) { return has_storage(scene, r) && scene.shadow.row(r).write_from < scene.shadow.row(r).length; });
  if (fresh && !scene.seldom(4)) {
    return propose_write_row(scene, *fresh);
  }
  const auto row = scene.pick_row([&](Row r) { return writable(scene, r); });
  if (!row) {
    return std::nullopt;
  }
  const Pos end = scene.choices.odds(1, 2) ? scene.shadow.row(*row).length
                                           : scene.choices.between(1, scene.shadow.row(*row).length);
  const Pos lowest = scene.shadow.live_from(*row, end);
  if (lowest == end) {
    return std::nullopt;
  }
  const Pos begin = scene.choices.odds(1, 2) ? lowest : scene.choices.between(lowest, end - 1);
  return op::Write{*row, {begin, end}};
}

std::optional<Op> propose_read_row(const Scene& scene, Row row) {
  if (!writable(scene, row)) {
    return std::nullopt;
  }
  const Pos end = draw_read_end(scene, row);
  const Pos lowest = scene.shadow.readable_from(row, end);
  if (lowest == end) {
    return std::nullopt;
  }
  const Pos begin = scene.seldom(4) ? scene.choices.between(lowest, end - 1) : lowest;
  return op::Read{row, {begin, end}};
}

std::optional<Op> propose_read(const Scene& scene) {
  const auto row = scene.pick_row([&](Row r) { return writable(scene, r); });
  return row ? propose_read_row(scene, *row) : std::nullopt;
}

}  // namespace poolproof
