#include "props/propose.hpp"

#include <algorithm>
#include <array>

namespace poolproof {
namespace {

constexpr std::uint32_t backup_names = 3;
constexpr std::int64_t most_resized_pages = 16;

std::optional<Op> propose_slot(const Scene& scene) {
  const bool cached_too = scene.seldom(8);
  const Row limit = cached_too ? scene.swarm.rows() : scene.swarm.running;
  const auto row = scene.pick_row([&](Row r) { return r < limit && !scene.shadow.row(r).slot; });
  return row ? std::optional<Op>(op::SlotTake{*row}) : std::nullopt;
}

/// Of a row that ended, or now and then of one that lives on as a cached prefix.
std::optional<Op> propose_unslot(const Scene& scene) {
  const bool ended_only = !scene.seldom(3);
  const auto row = scene.pick_row([&](Row r) {
    const RowMemo& memo = scene.shadow.row(r);
    return memo.slot && (!ended_only || memo.length == 0);
  });
  return row ? std::optional<Op>(op::SlotGive{*row}) : std::nullopt;
}

std::optional<Op> propose_group_begin(const Scene& scene, bool again) {
  return scene.machine.group_open() == again ? std::optional<Op>(op::GroupBegin{again}) : std::nullopt;
}

std::optional<Op> propose_group_end(const Scene& scene, bool again) {
  return scene.machine.group_open() != again ? std::optional<Op>(op::GroupEnd{again}) : std::nullopt;
}

std::optional<Op> propose_restore(const Scene& scene) {
  const auto first = static_cast<std::uint32_t>(scene.choices.draw(backup_names));
  for (std::uint32_t i = 0; i < backup_names; ++i) {
    const std::uint32_t name = (first + i) % backup_names;
    if (scene.machine.has_backup(name)) {
      return op::Restore{name};
    }
  }
  return std::nullopt;
}

Op propose_backup(const Scene& scene) {
  return op::Backup{static_cast<std::uint32_t>(scene.choices.draw(backup_names))};
}

Op propose_resize(const Scene& scene) {
  const std::int64_t scale = scene.geo.page == 1 ? 2 : 1;
  const std::int64_t full = scene.choices.between(2, most_resized_pages * scale);
  op::Resize resize{full * scene.geo.page, 0};
  if (scene.geo.hybrid()) {
    const std::int64_t swa = scene.choices.odds(1, 2) ? full : scene.choices.between(1, most_resized_pages * scale);
    resize.swa = swa * scene.geo.page;
  }
  return resize;
}

/// A tag of which all memory can be paused (`resident`) or resumed, now and then one of which it cannot.
std::optional<MemoryTag> draw_tag(const Scene& scene, bool resident) {
  const bool any = scene.seldom(6);
  std::array<MemoryTag, 3> tags{};
  std::size_t count = 0;
  for (const MemoryTag tag : {MemoryTag::kv_cache, MemoryTag::weights, MemoryTag::all}) {
    const bool there = tag != MemoryTag::weights || scene.geo.kv.weights_bytes > 0;
    const bool fits = resident ? scene.machine.resident(tag) : scene.machine.paused(tag);
    if (there && (any || fits || scene.geo.kv.saver == SaverMode::off)) {
      tags.at(count++) = tag;
    }
  }
  return count == 0 ? std::nullopt : std::optional(tags.at(scene.choices.draw(count)));
}

template <typename TagOp>
std::optional<Op> propose_tagged(const Scene& scene, bool resident) {
  const std::optional<MemoryTag> tag = draw_tag(scene, resident);
  return tag ? std::optional<Op>(TagOp{*tag}) : std::nullopt;
}

/// What the machine says, so it always holds on a right allocator.
Op propose_expect(const Scene& scene) {
  const Machine& machine = scene.machine;
  op::Expect expect;
  const std::uint64_t shape = scene.choices.draw(6);
  if ((word_lends(scene.last) || scene.last == OpWord::slot) && shape == 5) {
    expect.refused = machine.last_refused();
    return expect;
  }
  if (scene.geo.reqs > 0 && shape == 4) {
    expect.slots = machine.slots_free();
    return expect;
  }
  expect.full = machine.full_free_pages() * scene.geo.page;
  if (scene.geo.hybrid() && shape != 3) {
    expect.swa =
        scene.geo.ringed() ? machine.slots_free() * scene.geo.ring_cost() : machine.swa_free_pages() * scene.geo.page;
  }
  return expect;
}

}  // namespace

Pos Scene::window_bound(Row row) const {
  return std::max<Pos>(0, page_floor(std::max<Pos>(0, shadow.row(row).length - geo.window)));
}

bool Scene::peered(Row row, std::int64_t index) const {
  const Range range = shadow.page_range(row, index);
  return geo.paired() && (machine.row_peer_live(row, range.begin) || machine.row_peer_live(row, range.end - 1));
}

PageRun cut_run(const Scene& scene, PageRun run) {
  if (run.size() == 1) {
    return run;
  }
  switch (scene.choices.draw(8)) {
    case 4:
      return {run.begin, scene.choices.between(run.begin + 1, run.end)};
    case 5:
      return {scene.choices.between(run.begin, run.end - 1), run.end};
    case 6: {
      const std::int64_t one = scene.choices.between(run.begin, run.end - 1);
      return {one, one + 1};
    }
    case 7: {
      const std::int64_t begin = scene.choices.between(run.begin, run.end - 1);
      return {begin, scene.choices.between(begin + 1, run.end)};
    }
    default:
      return run;
  }
}

std::optional<Op> propose(OpWord word, const Scene& scene) {
  switch (word) {
    case OpWord::slot:
      return propose_slot(scene);
    case OpWord::unslot:
      return propose_unslot(scene);
    case OpWord::alloc:
      return propose_alloc(scene);
    case OpWord::extend:
      return propose_extend(scene);
    case OpWord::decode:
      return propose_decode(scene);
    case OpWord::tail:
      return propose_tail(scene);
    case OpWord::free:
      return propose_free(scene, Side::both);
    case OpWord::free_swa:
      return propose_free(scene, Side::swa);
    case OpWord::free_full:
      return propose_free(scene, Side::full);
    case OpWord::free_segment:
      return propose_free_segment(scene, Side::both);
    case OpWord::free_swa_segment:
      return propose_free_segment(scene, Side::swa);
    case OpWord::free_full_segment:
      return propose_free_segment(scene, Side::full);
    case OpWord::copy:
      return propose_copy(scene);
    case OpWord::drop:
      return propose_drop(scene);
    case OpWord::trim:
      return propose_trim(scene);
    case OpWord::remap:
      return propose_remap(scene);
    case OpWord::unmap:
      return propose_unmap(scene);
    case OpWord::write:
      return propose_write(scene);
    case OpWord::read:
      return propose_read(scene);
    case OpWord::group_begin:
    case OpWord::group_begin_again:
      return propose_group_begin(scene, word == OpWord::group_begin_again);
    case OpWord::group_end:
    case OpWord::group_end_again:
      return propose_group_end(scene, word == OpWord::group_end_again);
    case OpWord::backup:
      return propose_backup(scene);
    case OpWord::restore:
      return propose_restore(scene);
    case OpWord::clear:
      return op::Clear{};
    case OpWord::resize:
      return propose_resize(scene);
    case OpWord::expect:
      return propose_expect(scene);
    case OpWord::pause:
      return propose_tagged<op::Pause>(scene, true);
    case OpWord::resume:
      return propose_tagged<op::Resume>(scene, false);
    case OpWord::destroy:
      return op::Destroy{};
    case OpWord::build:
      return scene.machine.built() ? std::nullopt : std::optional<Op>(op::Build{});
    case OpWord::flush:
      return op::Flush{};
  }
  return std::nullopt;
}

}  // namespace poolproof
