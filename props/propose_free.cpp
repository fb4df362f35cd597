// Giving back: what is picked is closed over holders (every row that holds a page names it) and over bonds (pages that
// share SWA pages after a load-back are released together).
#include <algorithm>
#include <iterator>

#include "props/propose.hpp"

namespace poolproof {
namespace {

struct PageRef {
  Row row = 0;
  std::int64_t index = 0;
  auto operator<=>(const PageRef&) const = default;
};

/// Pages to be released, each row that holds them included.
class Selection {
 public:
  Selection(const Scene& scene, Side side) : scene_(scene), side_(side) {}

  void add(Row row, PageRun run) {
    for (std::int64_t index = run.begin; index < run.end; ++index) {
      add_page({row, index});
    }
  }

  /// What else must be named. New pages are added behind while the list is walked.
  void close() {
    for (std::size_t i = 0; i < refs_.size(); ++i) {
      const PageRef ref = refs_[i];
      const PageMemo& memo = scene_.shadow.memo(scene_.shadow.page_id(ref.row, ref.index));
      if (memo.holders > 1) {
        add_holders(ref);
      }
      if (memo.bond != 0 && side_ != Side::full) {
        add_bond(memo.bond);
      }
    }
  }

  [[nodiscard]] bool empty() const { return refs_.empty(); }

  /// One piece for each run of pages of a row, by row and position.
  std::vector<Piece> pieces() {
    std::sort(refs_.begin(), refs_.end());
    std::vector<Piece> all;
    for (const PageRef& ref : refs_) {
      const Range range = scene_.shadow.page_range(ref.row, ref.index);
      if (!all.empty() && all.back().row == ref.row && all.back().range.end == range.begin) {
        all.back().range.end = range.end;
      } else {
        all.push_back({ref.row, range});
      }
    }
    return all;
  }

 private:
  void add_page(PageRef ref) {
    if (std::find(refs_.begin(), refs_.end(), ref) == refs_.end()) {
      refs_.push_back(ref);
    }
  }

  void add_holders(PageRef ref) {
    const PageId page = scene_.shadow.page_id(ref.row, ref.index);
    for (Row row = 0; row < scene_.swarm.rows(); ++row) {
      if (scene_.shadow.page_id(row, ref.index) == page) {
        add_page({row, ref.index});
      }
    }
  }

  void add_bond(std::uint32_t bond) {
    for (Row row = 0; row < scene_.swarm.rows(); ++row) {
      for (std::int64_t index = 0; index < scene_.shadow.row_pages(row); ++index) {
        const PageId page = scene_.shadow.page_id(row, index);
        if (page != 0 && scene_.shadow.memo(page).bond == bond && (side_ != Side::swa || scene_.peered(row, index))) {
          add_page({row, index});
        }
      }
    }
  }

  const Scene& scene_;
  Side side_;
  std::vector<PageRef> refs_;
};

/// May this side of the page be given back, holders aside?
bool releasable(const Scene& scene, Side side, Row row, std::int64_t index) {
  if (scene.shadow.page_id(row, index) == 0) {
    return false;
  }
  if (side == Side::swa) {
    const Pos begin = index * scene.geo.page;
    if (scene.shadow.row(row).slot && (begin < scene.machine.row_frontier(row) || begin >= scene.window_bound(row))) {
      return false;
    }
    return !scene.geo.paired() || scene.peered(row, index) ||
           scene.shadow.memo(scene.shadow.page_id(row, index)).outside_tail;
  }
  return side == Side::both || !scene.peered(row, index);
}

std::optional<PageRun> pick_releasable(const Scene& scene, Side side, Row row) {
  const auto run = pick_run(scene, row, [&](std::int64_t index) { return releasable(scene, side, row, index); });
  return run ? std::optional<PageRun>(cut_run(scene, *run)) : std::nullopt;
}

bool has_releasable(const Scene& scene, Side side, Row row) {
  for (std::int64_t index = 0; index < scene.shadow.row_pages(row); ++index) {
    if (releasable(scene, side, row, index)) {
      return true;
    }
  }
  return false;
}

/// A set-shaped call may name a page twice, in any order and in pieces of any size.
void disturb(const Scene& scene, std::vector<Piece>& pieces) {
  if (scene.seldom(6)) {
    pieces.push_back(pieces[scene.choices.draw(pieces.size())]);
  }
  if (scene.seldom(6)) {
    Piece& piece = pieces[scene.choices.draw(pieces.size())];
    if (piece.range.size() > 1) {
      const Pos cut = scene.choices.between(piece.range.begin + 1, piece.range.end - 1);
      const Piece rest{piece.row, {cut, piece.range.end}};
      piece.range.end = cut;
      pieces.push_back(rest);
    }
  }
  if (scene.seldom(4)) {
    std::reverse(pieces.begin(), pieces.end());
  }
}

std::optional<Op> free_selection(const Scene& scene, Side side, Selection& selection, bool plain) {
  selection.close();
  if (selection.empty()) {
    return std::nullopt;
  }
  op::Free free{side, selection.pieces()};
  if (!plain) {
    disturb(scene, free.pieces);
  }
  return free;
}

std::size_t draw_row_count(const Scene& scene) {
  return scene.seldom(4) ? static_cast<std::size_t>(scene.choices.between(2, 3)) : 1;
}

/// A run as one slice, or split at page borders, sometimes with a gap in between.
std::vector<Range> draw_slices(const Scene& scene, Row row, PageRun run) {
  const Range whole{run.begin * scene.geo.page, scene.shadow.page_range(row, run.end - 1).end};
  if (run.size() == 1 || scene.choices.draw(2) == 0) {
    return {whole};
  }
  const Pos cut = scene.geo.page * scene.choices.between(run.begin + 1, run.end - 1);
  std::vector<Range> slices = {{whole.begin, cut}, {cut, whole.end}};
  if (scene.choices.draw(2) == 0) {
    return slices;
  }
  Range& second = slices.back();
  const std::int64_t pages = scene.geo.pages_of(second.size());
  if (pages > 1) {
    const Pos again = second.begin + scene.geo.page * scene.choices.between(1, pages - 1);
    if (scene.choices.draw(2) == 0) {
      const Range third{again, second.end};
      second.end = again;
      slices.push_back(third);
    } else {
      second.begin = again;
    }
  }
  return slices;
}

bool alone(const Scene& scene, Row row, std::int64_t index) {
  const PageMemo& memo = scene.shadow.memo(scene.shadow.page_id(row, index));
  return memo.holders == 1;
}

}  // namespace

std::optional<Op> propose_free(const Scene& scene, Side side) {
  Selection selection(scene, side);
  const std::size_t rows = draw_row_count(scene);
  for (std::size_t i = 0; i < rows; ++i) {
    const auto row = scene.pick_row([&](Row r) { return has_releasable(scene, side, r); });
    if (!row) {
      return std::nullopt;
    }
    if (const auto run = pick_releasable(scene, side, *row)) {
      selection.add(*row, *run);
    }
  }
  return free_selection(scene, side, selection, false);
}

std::optional<Op> propose_free_row(const Scene& scene, Row row) { return propose_free_from(scene, row, 0); }

std::optional<Op> propose_free_from(const Scene& scene, Row row, Pos from) {
  Selection selection(scene, Side::both);
  for (std::int64_t index = from / scene.geo.page; index < scene.shadow.row_pages(row); ++index) {
    if (scene.shadow.page_id(row, index) != 0) {
      selection.add(row, {index, index + 1});
    }
  }
  return free_selection(scene, Side::both, selection, true);
}

std::optional<Op> propose_evict(const Scene& scene, Row row) {
  const PageRun window{scene.machine.row_frontier(row) / scene.geo.page, scene.window_bound(row) / scene.geo.page};
  if (window.size() <= 0) {
    return std::nullopt;
  }
  const auto run = pick_run(scene, row, [&](std::int64_t index) {
    return index >= window.begin && index < window.end && scene.shadow.page_id(row, index) != 0 &&
           (!scene.geo.paired() || scene.peered(row, index));
  });
  if (!run) {
    return std::nullopt;
  }
  bool all_alone = true;
  for (std::int64_t index = run->begin; index < run->end; ++index) {
    all_alone = all_alone && alone(scene, row, index);
  }
  if (all_alone && scene.choices.draw(2) == 1) {
    return op::FreeSegment{Side::swa, row, {{run->begin * scene.geo.page, run->end * scene.geo.page}}};
  }
  Selection selection(scene, Side::swa);
  selection.add(row, *run);
  return free_selection(scene, Side::swa, selection, true);
}

std::optional<Op> propose_free_segment(const Scene& scene, Side side) {
  const auto good = [&](Row row, std::int64_t index) {
    return releasable(scene, side, row, index) && alone(scene, row, index);
  };
  const auto row = scene.pick_row([&](Row r) {
    for (std::int64_t index = 0; index < scene.shadow.row_pages(r); ++index) {
      if (good(r, index)) {
        return true;
      }
    }
    return false;
  });
  if (!row) {
    return std::nullopt;
  }
  const auto run = pick_run(scene, *row, [&](std::int64_t index) { return good(*row, index); });
  if (!run) {
    return std::nullopt;
  }
  return op::FreeSegment{side, *row, draw_slices(scene, *row, cut_run(scene, *run))};
}

}  // namespace poolproof
