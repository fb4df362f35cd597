// Rows that share pages, rows that reject tokens, peers that move: copy, drop, trim, remap, unmap.
#include <algorithm>

#include "props/propose.hpp"

namespace poolproof {
namespace {

/// Pages of `from` that `to` could take over next: whole, live, at to's length.
std::int64_t shareable(const Scene& scene, Row to, Row from) {
  const RowMemo& target = scene.shadow.row(to);
  if (to == from || target.length % scene.geo.page != 0) {
    return 0;
  }
  std::int64_t index = target.length / scene.geo.page;
  const std::int64_t first = index;
  while ((index + 1) * scene.geo.page <= scene.shadow.row(from).length && scene.shadow.page_id(from, index) != 0) {
    ++index;
  }
  return index - first;
}

Op copy_pages(const Scene& scene, Row to, Row from, std::int64_t pages) {
  const Pos begin = scene.shadow.row(to).length;
  return op::Copy{to, {begin, begin + pages * scene.geo.page}, from};
}

bool shared(const Scene& scene, Row row, std::int64_t index) {
  const PageId page = scene.shadow.page_id(row, index);
  return page != 0 && scene.shadow.memo(page).holders > 1;
}

bool any_page(const Scene& scene, Row row, bool (*good)(const Scene&, Row, std::int64_t)) {
  for (std::int64_t index = 0; index < scene.shadow.row_pages(row); ++index) {
    if (good(scene, row, index)) {
      return true;
    }
  }
  return false;
}

bool unpeered(const Scene& scene, Row row, std::int64_t index) {
  return scene.shadow.page_id(row, index) != 0 && !scene.peered(row, index);
}

/// A page whose peers are its row's alone to hand over.
bool can_donate(const Scene& scene, Row row, std::int64_t index) {
  const PageId page = scene.shadow.page_id(row, index);
  return page != 0 && scene.shadow.memo(page).holders == 1 && scene.peered(row, index);
}

/// Tokens [begin, end) of a row in one run of its pages.
Range run_range(const Scene& scene, Row row, PageRun run) {
  return {run.begin * scene.geo.page, scene.shadow.page_range(row, run.end - 1).end};
}

/// Where in the donor's run the chunk starts: at the same place in the page mostly, else anywhere.
Pos draw_donor_start(const Scene& scene, Range donor, Tokens chunk) {
  const Tokens room = donor.size() - chunk;
  if (room > 0 && scene.choices.draw(2) == 1) {
    return donor.begin + scene.choices.between(0, room);
  }
  return donor.begin + scene.geo.page * scene.choices.between(0, room / scene.geo.page);
}

/// Whole pages from the target's start, or all of a target that ends inside a page; 0 when the donor has too little.
Tokens draw_chunk(const Scene& scene, Range target, Tokens donor) {
  if (target.size() <= donor && scene.choices.draw(2) == 1) {
    return target.size();
  }
  const std::int64_t pages = std::min(target.size(), donor) / scene.geo.page;
  if (pages == 0) {
    return target.size() <= donor ? target.size() : 0;
  }
  return scene.geo.page * (scene.choices.odds(1, 2) ? 1 : scene.choices.between(1, pages));
}

/// In ring mode entries are set to the donor's ring rows: the donor needs a slot and what it has in its ring.
std::optional<Op> propose_ring_remap(const Scene& scene) {
  const auto from =
      scene.pick_row([&](Row r) { return scene.shadow.row(r).slot && scene.shadow.row(r).ring.size() > 0; });
  const auto to = scene.pick_row([&](Row r) { return scene.shadow.row(r).length > 0; });
  if (!from || !to) {
    return std::nullopt;
  }
  const auto run = pick_run(scene, *to, [&](std::int64_t index) { return scene.shadow.page_id(*to, index) != 0; });
  const Range ring = scene.shadow.row(*from).ring;
  const Range donor{std::max(ring.begin, scene.shadow.live_from(*from, ring.end)), ring.end};
  if (!run || donor.size() <= 0) {
    return std::nullopt;
  }
  const Range target = run_range(scene, *to, cut_run(scene, *run));
  const Tokens chunk = draw_chunk(scene, target, donor.size());
  if (chunk == 0) {
    return std::nullopt;
  }
  const Pos start = scene.choices.between(donor.begin, donor.end - chunk);
  return op::Remap{*to, {target.begin, target.begin + chunk}, *from, start};
}

std::optional<Op> propose_paired_remap(const Scene& scene) {
  const auto to = scene.pick_row([&](Row r) { return any_page(scene, r, unpeered); });
  const auto from = scene.pick_row([&](Row r) { return any_page(scene, r, can_donate); });
  if (!to || !from) {
    return std::nullopt;
  }
  const auto target_run = pick_run(scene, *to, [&](std::int64_t index) { return unpeered(scene, *to, index); });
  const auto donor_run = pick_run(scene, *from, [&](std::int64_t index) { return can_donate(scene, *from, index); });
  if (!target_run || !donor_run) {
    return std::nullopt;
  }
  const Range target = run_range(scene, *to, cut_run(scene, *target_run));
  const Range donor = run_range(scene, *from, *donor_run);
  const Tokens chunk = draw_chunk(scene, target, donor.size());
  if (chunk == 0) {
    return std::nullopt;
  }
  return op::Remap{*to, {target.begin, target.begin + chunk}, *from, draw_donor_start(scene, donor, chunk)};
}

}  // namespace

std::optional<Op> propose_copy(const Scene& scene) {
  const auto from = scene.pick_row([&](Row r) {
    for (Row to = 0; to < scene.swarm.rows(); ++to) {
      if (shareable(scene, to, r) > 0) {
        return true;
      }
    }
    return false;
  });
  if (!from) {
    return std::nullopt;
  }
  const auto to = scene.pick_row([&](Row r) { return shareable(scene, r, *from) > 0; });
  const std::int64_t most = shareable(scene, *to, *from);
  const std::int64_t pages = scene.choices.odds(2, 3) ? most : scene.choices.between(1, most);
  return copy_pages(scene, *to, *from, pages);
}

std::optional<Op> propose_hand_over(const Scene& scene, Row from) {
  const auto to = scene.pick_row([&](Row r) {
    return r >= scene.swarm.running && scene.shadow.row(r).length == 0 && shareable(scene, r, from) > 0;
  });
  return to ? std::optional<Op>(copy_pages(scene, *to, from, shareable(scene, *to, from))) : std::nullopt;
}

std::optional<Op> propose_drop_row(const Scene& scene, Row row) {
  const auto run = pick_run(scene, row, [&](std::int64_t index) { return shared(scene, row, index); });
  return run ? std::optional<Op>(op::Drop{row, run_range(scene, row, cut_run(scene, *run))}) : std::nullopt;
}

std::optional<Op> propose_drop(const Scene& scene) {
  const auto row = scene.pick_row([&](Row r) { return any_page(scene, r, shared); });
  return row ? propose_drop_row(scene, *row) : std::nullopt;
}

std::optional<Op> propose_trim(const Scene& scene) {
  const auto last_page = [&](Row r) { return scene.shadow.page_range(r, scene.shadow.row_pages(r) - 1); };
  const auto row = scene.pick_row([&](Row r) {
    return scene.shadow.row(r).length > 0 && last_page(r).size() > 1 &&
           !shared(scene, r, scene.shadow.row_pages(r) - 1);
  });
  if (!row) {
    return std::nullopt;
  }
  const Range range = last_page(*row);
  const Tokens rejected = scene.choices.between(1, std::min<Tokens>(4, range.size() - 1));
  return op::Trim{*row, range.end - rejected};
}

std::optional<Op> propose_remap(const Scene& scene) {
  return scene.geo.ringed() ? propose_ring_remap(scene) : propose_paired_remap(scene);
}

std::optional<Op> propose_unmap(const Scene& scene) {
  const auto row = scene.pick_row([&](Row r) { return any_page(scene, r, unpeered); });
  if (!row) {
    return std::nullopt;
  }
  const auto run = pick_run(scene, *row, [&](std::int64_t index) { return unpeered(scene, *row, index); });
  Range range = run_range(scene, *row, cut_run(scene, *run));
  if (scene.seldom(3)) {
    range.begin = scene.choices.between(range.begin, range.end - 1);
    range.end = scene.choices.between(range.begin + 1, range.end);
  }
  return op::Unmap{*row, range};
}

}  // namespace poolproof
