#include "impl/device/device_pools.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "model/state_digest.hpp"

namespace poolproof {
namespace {

/// Room beyond all pages: what a faulty caller returns twice is kept, so that it is seen.
constexpr std::int64_t spare_pages = 1024;
/// Grids that walk a list of unknown length are no larger.
constexpr std::int64_t most_walking_blocks = 1024;

std::int64_t words_for(std::int64_t bits) { return bits / 32 + 1; }

constexpr std::int64_t census_count_words = sizeof(kernels::CensusCounts) / sizeof(std::uint32_t);

std::int64_t swa_rows(const Geometry& g) {
  if (g.ringed()) {
    return (g.reqs + 1) * g.ring;
  }
  return g.hybrid() ? g.swa + g.page : g.layout == Layout::pure_swa ? g.full + g.page : 0;
}

kernels::Stack stack_of(DeviceArray<Page>& pages, std::int64_t* count, bool in_order = false) {
  return {pages.data(), count, pages.size(), in_order};
}

std::int64_t walking_blocks(std::int64_t items, int threads) {
  return std::clamp<std::int64_t>(kernels::parts_of(items, threads), 1, most_walking_blocks);
}

}  // namespace

// ---- memory

DevicePools::PoolMemory::PoolMemory(const std::shared_ptr<Device>& device, std::int64_t page_count)
    : pages(page_count),
      free(device, page_count + spare_pages, "a free list"),
      staged(device, page_count + spare_pages, "a staged list"),
      deferred(device, page_count + spare_pages, "a deferred list"),
      marks(device, words_for(page_count + 1), "page flags") {}

DevicePools::DevicePools(std::shared_ptr<Device> device, const Geometry& geometry)
    : device_(std::move(device)),
      geometry_(geometry),
      shift_(std::countr_zero(static_cast<std::uint64_t>(geometry.page))),
      counters_(device_, 1, "the counters"),
      mismatch_(device_, 1, "a mismatch") {
  build();
}

DevicePools::DevicePools(const DevicePools& other) = default;
DevicePools& DevicePools::operator=(const DevicePools& other) = default;

std::unique_ptr<DevicePools> DevicePools::clone() const { return std::unique_ptr<DevicePools>(new DevicePools(*this)); }

void DevicePools::build() {
  full_ = PoolMemory(device_, geometry_.full_pages());
  swa_ = PoolMemory(device_, geometry_.hybrid() ? geometry_.swa_pages() : 0);
  touched_ = DeviceArray<Page>(device_, full_.pages + 1, "a free's pages");
  if (geometry_.need_sort) {
    merge_scratch_ = DeviceArray<Page>(device_, 2 * (std::max(full_.pages, swa_.pages) + spare_pages), "merging");
  }
  if (geometry_.hybrid()) {
    mapping_ = DeviceArray<Loc>(device_, geometry_.mapping_length(), "the mapping");
  }
  full_kv_ = DeviceArray<Stamp>(device_, geometry_.full + geometry_.page, "full KV stamps");
  swa_kv_ = DeviceArray<Stamp>(device_, swa_rows(geometry_), "SWA KV stamps");
  const std::int64_t words = census_count_words + words_for(full_.pages + 1) + words_for(swa_.pages + 1) +
                             words_for(geometry_.paired() ? geometry_.swa + geometry_.page : 0);
  census_ = DeviceArray<std::uint32_t>(device_, words, "the census");
  fill();
}

/// As new.
void DevicePools::fill() {
  upload_counters({});
  const kernels::PoolsView pools = view();
  for (const auto& [stack, pages] : {std::pair(pools.full.free, full_.pages), std::pair(pools.swa.free, swa_.pages)}) {
    device_->run(kernels::FillFreeListKernel{stack, pages},
                 walking_blocks(pages, kernels::FillFreeListKernel::threads));
  }
  if (geometry_.hybrid()) {
    device_->run(kernels::FillMappingKernel{mapping_.data(), mapping_.size()},
                 walking_blocks(mapping_.size(), kernels::FillMappingKernel::threads));
  }
  known_full_ = {.free = {full_.pages, true}, .staged = {}, .deferred = {}};
  known_swa_ = {.free = {swa_.pages, true}, .staged = {}, .deferred = {}};
  group_open_ = false;
}

void DevicePools::upload_counters(const DeviceCounters& counters) { counters_.upload({&counters, 1}); }

kernels::PoolsView DevicePools::view() {
  DeviceCounters* counters = counters_.data();
  const auto pool_view = [](PoolMemory& memory, DeviceCounters::PoolCounters& counts) {
    return kernels::PoolView{
        stack_of(memory.free, &counts.free),
        stack_of(memory.staged, &counts.staged),
        stack_of(memory.deferred, &counts.deferred, true),
        {memory.marks.data(), &counts.first_marked_word, &counts.last_marked_word},
    };
  };
  kernels::PoolsView pools;
  pools.full = pool_view(full_, counters->full);
  pools.swa = pool_view(swa_, counters->swa);
  pools.mapping = mapping_.data();
  pools.mapping_length = mapping_.size();
  pools.ticket = &counters->ticket;
  pools.touched = touched_.data();
  pools.touched_count = &counters->touched;
  pools.touched_capacity = touched_.size();
  pools.shift = shift_;
  pools.ringed = geometry_.ringed();
  return pools;
}

// ---- counts

kernels::Target DevicePools::target() const {
  return group_open_ ? kernels::Target::deferred
                     : (geometry_.need_sort ? kernels::Target::staged : kernels::Target::free);
}

KnownCount& DevicePools::list_of(Pool which, kernels::Target target) {
  KnownCounts& counts = known(which);
  switch (target) {
    case kernels::Target::staged:
      return counts.staged;
    case kernels::Target::deferred:
      return counts.deferred;
    case kernels::Target::free:
      break;
  }
  return counts.free;
}

DeviceCounters DevicePools::learn() {
  DeviceCounters now;
  counters_.download({&now, 1});
  const auto take = [](KnownCounts& known, const DeviceCounters::PoolCounters& counts) {
    known = {.free = {counts.free, true}, .staged = {counts.staged, true}, .deferred = {counts.deferred, true}};
  };
  take(known_full_, now.full);
  take(known_swa_, now.swa);
  return now;
}

Tokens DevicePools::available(Pool which) {
  const KnownCounts& counts = known(which);
  if (!counts.free.exact || !counts.staged.exact) {
    learn();
  }
  return (counts.free.at_least + counts.staged.at_least) << shift_;
}

bool DevicePools::make_room(Pool which, std::int64_t pages) {
  const KnownCounts& counts = known(which);
  if (counts.free.at_least >= pages || recording_ != nullptr) {
    return true;
  }
  if (!counts.free.exact || !counts.staged.exact) {
    learn();
  }
  if (counts.free.at_least < pages && counts.staged.at_least > 0) {
    merge(which);
  }
  return counts.free.at_least >= pages;
}

bool DevicePools::make_joint_room(std::int64_t full_pages, std::int64_t swa_pages) {
  return make_room(Pool::full, full_pages) && (!lends_swa() || make_room(Pool::swa, swa_pages));
}

/// Staged pages join the free list, which is sorted. Counts are exact here.
void DevicePools::merge(Pool which) {
  KnownCounts& counts = known(which);
  PoolMemory& pool = memory(which);
  const std::int64_t free = counts.free.at_least;
  const std::int64_t staged = counts.staged.at_least;
  const auto bytes = [](std::int64_t pages) { return static_cast<std::size_t>(pages) * sizeof(Page); };
  device_->copy(merge_scratch_.data(), pool.free.data(), bytes(free));
  device_->copy(merge_scratch_.data() + free, pool.staged.data(), bytes(staged));
  const std::int64_t merged = std::min(free + staged, pool.free.size());
  const auto bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(pool.pages)));
  device_->sort_descending(merge_scratch_.data(), pool.free.data(), merged, bits);
  const std::array<std::int64_t, 2> now{merged, 0};
  DeviceCounters* on_device = counters_.data();
  device_->upload(which == Pool::full ? &on_device->full.free : &on_device->swa.free, now.data(), sizeof(now));
  counts.free = {merged, true};
  counts.staged = {0, true};
}

void DevicePools::note_lent(std::int64_t full_pages, std::int64_t swa_pages) {
  known_full_.free.at_least -= full_pages;
  known_swa_.free.at_least -= swa_pages;
  if (recording_ != nullptr) {
    recording_->full_pages_needed = std::max(recording_->full_pages_needed, -known_full_.free.at_least);
    recording_->swa_pages_needed = std::max(recording_->swa_pages_needed, -known_swa_.free.at_least);
  }
}

void DevicePools::note_returned(Pool which, std::int64_t pages, bool exact) {
  KnownCount& count = list_of(which, target());
  count.at_least += pages;
  count.exact = count.exact && exact;
}

// ---- lending

Answer DevicePools::extend(const kernels::BatchView& batch, std::int64_t blocks, std::int64_t pages, Loc* out) {
  if (!make_joint_room(pages, pages)) {
    return Answer::refused;
  }
  kernels::ExtendKernel kernel;
  kernel.pools = view();
  kernel.batch = batch;
  kernel.paired = lends_swa();
  kernel.demand = {pages, kernel.paired ? pages : 0};
  kernel.out = out;
  launch_extend(kernel, blocks);
  note_lent(pages, kernel.demand.swa_pages);
  return Answer::served;
}

Answer DevicePools::alloc(Tokens tokens, Loc* out) {
  kernels::BatchView batch;
  batch.requests = 1;
  batch.single_seq = tokens;
  return extend(batch, std::max<std::int64_t>(1, kernels::ExtendKernel::tiles_of(tokens)), pages_of(tokens), out);
}

Answer DevicePools::alloc_extend(const ExtendBatch& batch, Loc* out) {
  std::int64_t pages = 0;
  std::int64_t tiles = 0;
  for (std::size_t i = 0; i < batch.seq_lens.size(); ++i) {
    pages += pages_of(batch.seq_lens[i]) - pages_of(batch.prefix_lens[i]);
    tiles += kernels::ExtendKernel::tiles_of(batch.seq_lens[i] - batch.prefix_lens[i]);
  }
  kernels::BatchView on_device;
  on_device.requests = static_cast<std::int64_t>(batch.seq_lens.size());
  on_device.prefix_lens = batch.device_prefix_lens;
  on_device.seq_lens = batch.device_seq_lens;
  on_device.last_locs = batch.device_last_locs;
  return tiles == 0 ? Answer::served : extend(on_device, tiles, pages, out);
}

Answer DevicePools::alloc_decode(const DecodeBatch& batch, Loc* out) {
  const Tokens mask = geometry_.page - 1;
  const std::int64_t pages =
      std::count_if(batch.seq_lens.begin(), batch.seq_lens.end(), [mask](Pos seq) { return ((seq - 1) & mask) == 0; });
  if (!make_joint_room(pages, pages)) {
    return Answer::refused;
  }
  kernels::DecodeKernel kernel;
  kernel.pools = view();
  kernel.batch.requests = static_cast<std::int64_t>(batch.seq_lens.size());
  kernel.batch.seq_lens = batch.device_seq_lens;
  kernel.batch.last_locs = batch.device_last_locs;
  kernel.paired = lends_swa();
  kernel.demand = {pages, kernel.paired ? pages : 0};
  kernel.out = out;
  if (kernel.batch.requests > 0) {
    launch_decode(kernel, kernels::parts_of(kernel.batch.requests, kernels::DecodeKernel::threads));
  }
  note_lent(pages, kernel.demand.swa_pages);
  return Answer::served;
}

Answer DevicePools::alloc_extend_swa_tail(Pos prefix_len, Pos seq_len, Loc last_loc, Tokens tail_len, Pos tail_end,
                                          Loc* out) {
  const Tokens tokens = seq_len - prefix_len;
  const std::int64_t full_pages = pages_of(seq_len) - pages_of(prefix_len);
  const std::int64_t swa_pages = pages_of(tail_len);
  if (!lends_swa()) {
    kernels::BatchView batch;
    batch.requests = 1;
    batch.single_prefix = prefix_len;
    batch.single_seq = seq_len;
    batch.single_last = last_loc;
    return extend(batch, kernels::ExtendKernel::tiles_of(tokens), full_pages, out);
  }
  if (!make_joint_room(full_pages, swa_pages)) {
    return Answer::refused;
  }
  kernels::TailKernel kernel;
  kernel.pools = view();
  kernel.prefix = prefix_len;
  kernel.tokens = tokens;
  kernel.last = last_loc;
  kernel.tail_begin = tail_end - tail_len - prefix_len;
  kernel.tail_end = tail_end - prefix_len;
  kernel.demand = {full_pages, swa_pages};
  kernel.out = out;
  launch_tail(kernel, kernels::parts_of(tokens, kernels::TailKernel::tile));
  note_lent(full_pages, swa_pages);
  return Answer::served;
}

// ---- giving back

void DevicePools::free(Side side, const Loc* locs, std::int64_t count) {
  const bool pure = geometry_.layout == Layout::pure_swa;
  const bool detaches = geometry_.hybrid() && (side != Side::full || geometry_.ringed());
  const bool gives_full = pure ? side != Side::full : side != Side::swa;
  if (count == 0 || (!gives_full && !detaches)) {
    return;
  }
  const std::int64_t most_pages = std::min(count, full_.pages);
  launch_free_set({view(), locs, count, gives_full, target()},
                  walking_blocks(count, kernels::FreeSetKernel::threads * 4));
  if (gives_full) {
    note_returned(Pool::full, 1, count == 1);
  }
  if (detaches) {
    const kernels::PoolsView pools = view();
    const int own = kernels::slots_a_thread_shift(pools, count);
    launch_detach({pools, target(), own}, walking_blocks(most_pages << (shift_ - own), kernels::DetachKernel::threads));
    note_returned(Pool::swa, 0, !lends_swa());
  }
}

void DevicePools::free_segments(Side side, std::span<const DeviceSegment> segments) {
  const bool pure = geometry_.layout == Layout::pure_swa;
  kernels::FreeSegmentsKernel kernel;
  kernel.pools = view();
  kernel.give_full = pure ? side != Side::full : side != Side::swa;
  kernel.give_swa = geometry_.hybrid() && (side != Side::full || geometry_.ringed());
  kernel.target = target();
  if (!kernel.give_full && !kernel.give_swa) {
    return;
  }
  constexpr auto most = static_cast<std::size_t>(kernels::FreeSegmentsKernel::most_segments);
  // The last segments first, so that the first page of the first one is lent next, however many launches it takes. An
  // SWA page that two launches touch is collected once, by the last of them.
  for (std::size_t end = segments.size(); end > 0;) {
    const std::size_t begin = end > most ? end - most : 0;
    kernel.segment_count = static_cast<std::int64_t>(end - begin);
    kernel.pages = 0;
    for (std::size_t i = begin; i < end; ++i) {
      kernel.segments[i - begin] = {segments[i].locs, kernel.pages, segments[i].count};
      kernel.pages += pages_of(segments[i].count);
    }
    kernel.collect_swa = begin == 0;
    kernel.own = kernels::slots_a_thread_shift(kernel.pools, kernel.pages << shift_);
    launch_free_segments(kernel, kernel.blocks());
    if (kernel.give_full) {
      note_returned(Pool::full, kernel.pages, true);
    }
    end = begin;
  }
  if (kernel.give_swa) {
    note_returned(Pool::swa, 0, !lends_swa());
  }
}

bool DevicePools::free_group_begin() { return !std::exchange(group_open_, true); }

bool DevicePools::free_group_end() {
  if (!std::exchange(group_open_, false)) {
    return false;
  }
  settle_group();
  return true;
}

void DevicePools::settle_group() {
  const std::array<KnownCount, 2> deferred{known_full_.deferred, known_swa_.deferred};
  if (std::all_of(deferred.begin(), deferred.end(), [](KnownCount c) { return c.exact && c.at_least == 0; })) {
    return;
  }
  launch_close_group({view(), target()},
                     walking_blocks(std::max(full_.pages, swa_.pages) / 4 + 1, kernels::CloseGroupKernel::threads));
  note_returned(Pool::full, deferred[0].at_least, deferred[0].exact);
  note_returned(Pool::swa, deferred[1].at_least, deferred[1].exact);
  known_full_.deferred = known_swa_.deferred = {};
}

// ---- the mapping

void DevicePools::set_mapping(const Loc* full, const Loc* swa, std::int64_t count) {
  if (count > 0) {
    launch_map_set({view(), full, swa, count}, kernels::parts_of(count, kernels::MapSetKernel::threads));
  }
}

void DevicePools::clear_mapping(const Loc* full, std::int64_t count) { set_mapping(full, nullptr, count); }

void DevicePools::translate(const Loc* full, std::int64_t count, Loc* out) {
  if (count > 0) {
    device_->run(kernels::TranslateKernel{view(), full, count, out},
                 kernels::parts_of(count, kernels::TranslateKernel::threads));
  }
}

// ---- the whole state

void DevicePools::clear() {
  snapshots_.clear();
  fill();
}

void DevicePools::resize(Tokens full, Tokens swa) {
  snapshots_.clear();
  geometry_.full = full;
  geometry_.swa = geometry_.hybrid() ? swa : 0;
  build();
}

void DevicePools::backup(std::uint32_t key) {
  Snapshot snapshot;
  snapshot.counters = learn();
  snapshot.full_free = full_.free;
  snapshot.full_staged = full_.staged;
  snapshot.swa_free = swa_.free;
  snapshot.swa_staged = swa_.staged;
  snapshot.mapping = mapping_;
  snapshots_.insert_or_assign(key, std::move(snapshot));
}

bool DevicePools::restore(std::uint32_t key) {
  const auto found = snapshots_.find(key);
  if (found == snapshots_.end()) {
    return false;
  }
  const Snapshot& snapshot = found->second;
  const auto bring_back = [](auto& array, const auto& saved) { array.copy_from(saved.data(), saved.size()); };
  bring_back(full_.free, snapshot.full_free);
  bring_back(full_.staged, snapshot.full_staged);
  bring_back(swa_.free, snapshot.swa_free);
  bring_back(swa_.staged, snapshot.swa_staged);
  bring_back(mapping_, snapshot.mapping);
  // What a group defers meanwhile stays deferred.
  DeviceCounters now = learn();
  now.full.free = snapshot.counters.full.free;
  now.full.staged = snapshot.counters.full.staged;
  now.swa.free = snapshot.counters.swa.free;
  now.swa.staged = snapshot.counters.swa.staged;
  upload_counters(now);
  learn();
  return true;
}

// ---- KV

void DevicePools::aim_full(kernels::StampBatch& batch) {
  batch.pools = view();
  batch.kv = full_kv_.data();
  batch.kv_rows = full_kv_.size();
  batch.reach = kernels::Reach::loc;
}

void DevicePools::aim_swa(kernels::StampBatch& batch) {
  batch.pools = view();
  batch.kv = swa_kv_.data();
  batch.kv_rows = swa_kv_.size();
  batch.ring = geometry_.ring;
  batch.reach =
      geometry_.ringed() ? kernels::Reach::ring : (geometry_.hybrid() ? kernels::Reach::peer : kernels::Reach::loc);
}

void DevicePools::write_full(kernels::StampBatch batch) {
  aim_full(batch);
  launch_write(kernels::WriteStampsKernel{batch}, walking_blocks(batch.count, kernels::WriteStampsKernel::threads));
}

void DevicePools::write_swa(kernels::StampBatch batch) {
  aim_swa(batch);
  launch_write(kernels::WriteStampsKernel{batch}, walking_blocks(batch.count, kernels::WriteStampsKernel::threads));
}

void DevicePools::read_full(kernels::StampBatch batch, Stamp* out) {
  aim_full(batch);
  device_->run(kernels::ReadStampsKernel{batch, out}, walking_blocks(batch.count, kernels::ReadStampsKernel::threads));
}

void DevicePools::read_swa(kernels::StampBatch batch, Stamp* out) {
  aim_swa(batch);
  device_->run(kernels::ReadStampsKernel{batch, out}, walking_blocks(batch.count, kernels::ReadStampsKernel::threads));
}

std::optional<kernels::StampMismatch> DevicePools::verify(const kernels::StampBatch& batch) {
  kernels::StampMismatch first;
  mismatch_.upload({&first, 1});
  device_->run(kernels::VerifyStampsKernel{batch, mismatch_.data()},
               walking_blocks(batch.count, kernels::VerifyStampsKernel::threads));
  mismatch_.download({&first, 1});
  return first.index == INT64_MAX ? std::nullopt : std::optional(first);
}

std::optional<kernels::StampMismatch> DevicePools::verify_full(kernels::StampBatch batch) {
  aim_full(batch);
  return verify(batch);
}

std::optional<kernels::StampMismatch> DevicePools::verify_swa(kernels::StampBatch batch) {
  aim_swa(batch);
  return verify(batch);
}

// ---- looking

void DevicePools::launch_census() {
  census_.zero();
  auto* counts = reinterpret_cast<kernels::CensusCounts*>(census_.data());
  const kernels::PoolsView pools = view();
  kernels::CensusScratch scratch;
  scratch.full_pages = census_.data() + census_count_words;
  scratch.swa_pages = scratch.full_pages + words_for(full_.pages + 1);
  scratch.swa_tokens = scratch.swa_pages + words_for(swa_.pages + 1);
  device_->run(kernels::CensusListsKernel{pools, scratch, full_.pages, swa_.pages, counts},
               walking_blocks(std::max(full_.pages, swa_.pages), kernels::CensusListsKernel::threads));
  if (geometry_.hybrid()) {
    device_->run(
        kernels::CensusMappingKernel{pools, scratch, lends_swa() ? geometry_.swa : 0, counts},
        walking_blocks(mapping_.size() / kernels::CensusMappingKernel::run + 1, kernels::CensusMappingKernel::threads));
  }
}

kernels::CensusCounts DevicePools::census() {
  launch_census();
  kernels::CensusCounts counts;
  device_->download(&counts, census_counts(), sizeof(counts));
  return counts;
}

void DevicePools::download_lists(Pool which, PoolCensus& out) {
  const DeviceCounters now = learn();
  const DeviceCounters::PoolCounters& counts = which == Pool::full ? now.full : now.swa;
  PoolMemory& pool = memory(which);
  std::vector<Page> pages;
  const auto bring = [&](const DeviceArray<Page>& list, std::int64_t count, std::vector<std::int64_t>& to) {
    pages.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, list.size())));
    list.download(pages);
    to.assign(pages.rbegin(), pages.rend());
  };
  bring(pool.free, counts.free, out.free);
  bring(pool.staged, counts.staged, out.staged);
  bring(pool.deferred, counts.deferred, out.deferred);
  std::reverse(out.deferred.begin(), out.deferred.end());
}

void DevicePools::download_mapping(std::vector<Loc>& out) {
  out.resize(static_cast<std::size_t>(mapping_.size()));
  mapping_.download(out);
}

namespace {

template <typename Number>
void digest_array(const DeviceArray<Number>& array, std::int64_t count, StateDigest& out) {
  std::vector<Number> numbers(static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, array.size())));
  array.download(numbers);
  out.numbers(numbers);
}

void digest_stamps(const DeviceArray<Stamp>& array, StateDigest& out) {
  std::vector<Stamp> stamps(static_cast<std::size_t>(array.size()));
  array.download(stamps);
  out.stamps(stamps);
}

void digest_known(const KnownCounts& known, StateDigest& out) {
  for (const KnownCount& count : {known.free, known.staged, known.deferred}) {
    out.number(static_cast<std::uint64_t>(count.at_least) << 1U | (count.exact ? 1U : 0U));
  }
}

}  // namespace

void DevicePools::digest(StateDigest& out) const {
  DeviceCounters now;
  counters_.download({&now, 1});
  const auto pool = [&](const PoolMemory& memory, const DeviceCounters::PoolCounters& counts) {
    digest_array(memory.free, counts.free, out);
    digest_array(memory.staged, counts.staged, out);
    digest_array(memory.deferred, counts.deferred, out);
    digest_array(memory.marks, memory.marks.size(), out);
    out.number(static_cast<std::uint64_t>(counts.first_marked_word));
    out.number(static_cast<std::uint64_t>(counts.last_marked_word));
  };
  pool(full_, now.full);
  pool(swa_, now.swa);
  digest_known(known_full_, out);
  digest_known(known_swa_, out);
  out.number(static_cast<std::uint64_t>(geometry_.full) << 1U | (group_open_ ? 1U : 0U));
  digest_array(mapping_, mapping_.size(), out);
  digest_stamps(full_kv_, out);
  digest_stamps(swa_kv_, out);
  for (const auto& [key, snapshot] : snapshots_) {
    out.number(key);
    digest_array(snapshot.full_free, snapshot.counters.full.free, out);
    digest_array(snapshot.full_staged, snapshot.counters.full.staged, out);
    digest_array(snapshot.swa_free, snapshot.counters.swa.free, out);
    digest_array(snapshot.swa_staged, snapshot.counters.swa.staged, out);
    digest_array(snapshot.mapping, snapshot.mapping.size(), out);
  }
}

Loc DevicePools::mapping_tail() {
  Loc tail = 0;
  device_->download(&tail, mapping_.data() + (mapping_.size() - 1), sizeof(tail));
  return tail;
}

// ---- the steps

void DevicePools::launch_extend(const kernels::ExtendKernel& kernel, std::int64_t blocks) {
  device_->run(kernel, blocks);
}

void DevicePools::launch_decode(const kernels::DecodeKernel& kernel, std::int64_t blocks) {
  device_->run(kernel, blocks);
}

void DevicePools::launch_tail(const kernels::TailKernel& kernel, std::int64_t blocks) { device_->run(kernel, blocks); }

void DevicePools::launch_free_segments(const kernels::FreeSegmentsKernel& kernel, std::int64_t blocks) {
  device_->run(kernel, blocks);
}

void DevicePools::launch_free_set(const kernels::FreeSetKernel& kernel, std::int64_t blocks) {
  device_->run(kernel, blocks);
}

void DevicePools::launch_detach(const kernels::DetachKernel& kernel, std::int64_t blocks) {
  device_->run(kernel, blocks);
}

void DevicePools::launch_close_group(const kernels::CloseGroupKernel& kernel, std::int64_t blocks) {
  device_->run(kernel, blocks);
}

void DevicePools::launch_write(const kernels::WriteStampsKernel& kernel, std::int64_t blocks) {
  device_->run(kernel, blocks);
}

void DevicePools::launch_map_set(const kernels::MapSetKernel& kernel, std::int64_t blocks) {
  device_->run(kernel, blocks);
}

// ---- recorded calls

RecordedCalls DevicePools::record(const std::function<void()>& calls) {
  RecordedCalls recorded;
  const KnownCounts full = std::exchange(known_full_, {});
  const KnownCounts swa = std::exchange(known_swa_, {});
  recording_ = &recorded;
  const auto forget = [&] {
    recorded.full_change = std::exchange(known_full_, full);
    recorded.swa_change = std::exchange(known_swa_, swa);
    recording_ = nullptr;
  };
  try {
    recorded.recording = device_->record(calls);
  } catch (...) {
    forget();
    throw;
  }
  forget();
  return recorded;
}

bool DevicePools::replay(const RecordedCalls& calls) {
  if (!make_joint_room(calls.full_pages_needed, calls.swa_pages_needed)) {
    return false;
  }
  calls.recording->replay();
  const auto change = [](KnownCounts& known, const KnownCounts& by) {
    for (const auto field : {&KnownCounts::free, &KnownCounts::staged, &KnownCounts::deferred}) {
      (known.*field).at_least += (by.*field).at_least;
      (known.*field).exact = (known.*field).exact && (by.*field).exact;
    }
  };
  change(known_full_, calls.full_change);
  change(known_swa_, calls.swa_change);
  return true;
}

}  // namespace poolproof
