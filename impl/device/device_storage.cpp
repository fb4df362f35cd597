#include "impl/device/device_storage.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "impl/device/device_pools.hpp"
#include "kernels/fill.hpp"
#include "kernels/mapping.hpp"

namespace poolproof {
namespace {

std::int64_t length_of(std::span<const std::int64_t> values) { return static_cast<std::int64_t>(values.size()); }

/// Numbers for one call, in device memory until the next one.
class Argument {
 public:
  explicit Argument(const std::shared_ptr<Device>& device) : array_(device, 64, "arguments of a call") {}
  const std::int64_t* up(std::span<const std::int64_t> values) {
    array_.grow(length_of(values));
    array_.upload(values);
    return array_.data();
  }
  std::int64_t* room(std::size_t count) {
    array_.grow(static_cast<std::int64_t>(count));
    return array_.data();
  }
  void down(std::span<std::int64_t> values) const { array_.download(values); }

 private:
  DeviceArray<std::int64_t> array_;
};

// ---- one free list

/// The device's paged pool, with its lists in reach.
class Lists final : public DevicePools {
 public:
  using DevicePools::DevicePools;
  Lists(const Lists&) = default;

  void merge_all() {
    learn();
    merge(Pool::full);
  }

  PageLists fetch() {
    const DeviceCounters now = learn();
    PageLists lists;
    lists.free = fetch(memory(Pool::full).free, now.full.free);
    lists.staged = fetch(memory(Pool::full).staged, now.full.staged);
    return lists;
  }

  void put(const PageLists& lists) {
    DeviceCounters now = learn();
    now.full.free = put(memory(Pool::full).free, 0, lists.free);
    now.full.staged = put(memory(Pool::full).staged, 0, lists.staged);
    upload_counters(now);
    learn();
  }

  void push(std::span<const Page> pages) {
    const std::vector<Page> turned(pages.rbegin(), pages.rend());
    DeviceCounters now = learn();
    std::int64_t& count = geometry().need_sort ? now.full.staged : now.full.free;
    DeviceArray<Page>& list = geometry().need_sort ? memory(Pool::full).staged : memory(Pool::full).free;
    count = put(list, count, turned);
    upload_counters(now);
    learn();
  }

 private:
  static std::vector<Page> fetch(const DeviceArray<Page>& list, std::int64_t count) {
    std::vector<Page> pages(static_cast<std::size_t>(count));
    list.download(pages);
    return pages;
  }
  /// From `at` on; the length afterwards.
  std::int64_t put(DeviceArray<Page>& list, std::int64_t at, std::span<const Page> pages) {
    const std::int64_t end = at + static_cast<std::int64_t>(pages.size());
    if (end > list.size()) {
      throw StorageError("a list of pages outgrew its device memory", "a list outgrew its memory");
    }
    if (!pages.empty()) {
      device().upload(list.data() + at, pages.data(), pages.size_bytes());
    }
    return end;
  }
};

Geometry pool_geometry(Tokens size, Tokens page, bool need_sort) {
  Geometry g;
  g.layout = page == 1 ? Layout::token : Layout::paged;
  g.page = page;
  g.full = size;
  g.need_sort = need_sort;
  return g;
}

class DevicePagePool final : public PagePool {
 public:
  DevicePagePool(const std::shared_ptr<Device>& device, Tokens size, Tokens page, bool need_sort)
      : PagePool(size, page, need_sort),
        lists_on_device_(device, pool_geometry(size, page, need_sort)),
        first_(device),
        second_(device),
        third_(device),
        out_(device) {
    count();
  }
  [[nodiscard]] std::unique_ptr<PagePool> clone() const override { return std::make_unique<DevicePagePool>(*this); }
  DevicePagePool(const DevicePagePool&) = default;

  void clear() override {
    lists_on_device_.clear();
    count();
  }
  void merge_staged() override {
    lists_on_device_.merge_all();
    count();
  }

  void lend(std::span<Loc> out) override {
    if (!out.empty()) {
      expect_room(lists_on_device_.alloc(static_cast<Tokens>(out.size()), out_.room(out.size())));
      out_.down(out);
    }
  }
  void lend_extend(std::span<const Pos> prefix_lens, std::span<const Pos> seq_lens, std::span<const Loc> last_locs,
                   std::span<Loc> out) override {
    const ExtendBatch batch{prefix_lens, seq_lens, first_.up(prefix_lens), second_.up(seq_lens), third_.up(last_locs)};
    expect_room(lists_on_device_.alloc_extend(batch, out_.room(out.size())));
    out_.down(out);
  }
  void lend_decode(std::span<const Pos> seq_lens, std::span<const Loc> last_locs, std::span<Loc> out) override {
    const DecodeBatch batch{seq_lens, first_.up(seq_lens), second_.up(last_locs)};
    expect_room(lists_on_device_.alloc_decode(batch, out_.room(out.size())));
    out_.down(out);
  }
  void release(std::span<const Page> pages) override {
    lists_on_device_.push(pages);
    count();
  }

  [[nodiscard]] const PageLists& lists() const override {
    fetched_ = lists_on_device_.fetch();
    return fetched_;
  }
  void set_lists(const PageLists& lists) override {
    lists_on_device_.put(lists);
    count();
  }
  void census(PoolCensus& out) const override {
    const PageLists& now = lists();
    out.free.assign(now.free.rbegin(), now.free.rend());
    out.staged.assign(now.staged.rbegin(), now.staged.rend());
  }

 private:
  void expect_room(Answer answer) {
    if (answer != Answer::served) {
      throw StorageError("pages were lent without room", "lending without room");
    }
    count();
  }
  void count() {
    const DeviceCounters now = lists_on_device_.learn();
    set_lengths(now.full.free, now.full.staged);
  }

  mutable Lists lists_on_device_;  ///< looking at it takes launches
  mutable PageLists fetched_;
  Argument first_;
  Argument second_;
  Argument third_;
  Argument out_;
};

// ---- the mapping

class DeviceMapping final : public Mapping {
 public:
  DeviceMapping(std::shared_ptr<Device> device, std::int64_t length)
      : device_(std::move(device)), full_(device_), swa_(device_) {
    DeviceMapping::reset(length);
  }
  [[nodiscard]] std::unique_ptr<Mapping> clone() const override { return std::make_unique<DeviceMapping>(*this); }
  DeviceMapping(const DeviceMapping&) = default;

  void reset(std::int64_t length) override {
    array_ = DeviceArray<Loc>(device_, length, "the mapping");
    device_->run(kernels::FillMappingKernel{array_.data(), length}, 1);
  }
  void translate(std::span<const Loc> full, std::span<Loc> out) const override {
    if (!full.empty()) {
      device_->run(kernels::TranslateKernel{view(), full_.up(full), length_of(full), swa_.room(out.size())},
                   kernels::parts_of(length_of(full), kernels::TranslateKernel::threads));
      swa_.down(out);
    }
  }
  void pair(std::span<const Loc> full, std::span<const Loc> swa) override { set(full, swa_.up(swa)); }
  void clear(std::span<const Loc> full) override { set(full, nullptr); }
  void clear_pages(std::span<const Page> full_pages, Tokens page) override {
    for (const Page number : full_pages) {
      device_->zero(array_.data() + Loc{number} * page, static_cast<std::size_t>(page) * sizeof(Loc));
    }
  }
  void peer_pages(std::span<const Page> full_pages, Tokens page, std::vector<Page>& out) const override {
    out.clear();
    std::vector<Loc> entries_of_page(static_cast<std::size_t>(page));
    for (const Page number : full_pages) {
      device_->download(entries_of_page.data(), array_.data() + Loc{number} * page,
                        entries_of_page.size() * sizeof(Loc));
      for (const Loc peer : entries_of_page) {
        const auto peer_page = static_cast<Page>(peer / page);
        if (peer != 0 && (out.empty() || out.back() != peer_page)) {
          out.push_back(peer_page);
        }
      }
    }
  }
  [[nodiscard]] Loc tail() const override {
    Loc entry = 0;
    device_->download(&entry, array_.data() + (array_.size() - 1), sizeof(entry));
    return entry;
  }
  [[nodiscard]] std::span<const Loc> entries() const override {
    fetched_.resize(static_cast<std::size_t>(array_.size()));
    array_.download(fetched_);
    return fetched_;
  }

 private:
  [[nodiscard]] kernels::PoolsView view() const {
    kernels::PoolsView pools;
    pools.mapping = array_.data();
    pools.mapping_length = array_.size();
    return pools;
  }
  void set(std::span<const Loc> full, const Loc* swa) {
    if (!full.empty()) {
      device_->run(kernels::MapSetKernel{view(), full_.up(full), swa, length_of(full)},
                   kernels::parts_of(length_of(full), kernels::MapSetKernel::threads));
    }
  }

  std::shared_ptr<Device> device_;
  mutable DeviceArray<Loc> array_;
  mutable Argument full_;
  mutable Argument swa_;
  mutable std::vector<Loc> fetched_;
};

// ---- KV

class DeviceKvStore final : public KvStore {
 public:
  DeviceKvStore(const std::shared_ptr<Device>& device, std::int64_t rows)
      : device_(device), stamps_(device, rows, "KV stamps"), rows_(device), values_(device, 64, "stamps of a call") {}
  [[nodiscard]] std::unique_ptr<KvStore> clone() const override { return std::make_unique<DeviceKvStore>(*this); }
  DeviceKvStore(const DeviceKvStore&) = default;

  /// One after the other where a row stands twice: a launch decides nothing between its threads.
  void store(std::span<const std::int64_t> rows, std::span<const Stamp> stamps) override {
    for (std::size_t begin = 0; begin < rows.size();) {
      std::size_t end = begin + 1;
      const auto seen = [&](std::int64_t row) {
        return std::find(rows.begin() + static_cast<std::ptrdiff_t>(begin),
                         rows.begin() + static_cast<std::ptrdiff_t>(end),
                         row) != rows.begin() + static_cast<std::ptrdiff_t>(end);
      };
      while (end < rows.size() && !seen(rows[end])) {
        ++end;
      }
      kernels::StampBatch batch = batch_of(rows.subspan(begin, end - begin));
      values_.grow(batch.count);
      values_.upload(stamps.subspan(begin, end - begin));
      batch.stamps = values_.data();
      device_->run(kernels::WriteStampsKernel{batch}, blocks_for(batch.count));
      begin = end;
    }
  }
  void load(std::span<const std::int64_t> rows, std::span<Stamp> out) const override {
    if (!rows.empty()) {
      const kernels::StampBatch batch = batch_of(rows);
      values_.grow(batch.count);
      device_->run(kernels::ReadStampsKernel{batch, values_.data()}, blocks_for(batch.count));
      values_.download(out);
    }
  }
  [[nodiscard]] std::span<const Stamp> rows() const override {
    fetched_.resize(static_cast<std::size_t>(stamps_.size()));
    stamps_.download(fetched_);
    return fetched_;
  }

 private:
  static std::int64_t blocks_for(std::int64_t count) {
    return kernels::parts_of(count, kernels::ReadStampsKernel::threads);
  }
  [[nodiscard]] kernels::StampBatch batch_of(std::span<const std::int64_t> rows) const {
    kernels::StampBatch batch;
    batch.kv = stamps_.data();
    batch.kv_rows = stamps_.size();
    batch.locs = rows_.up(rows);
    batch.count = length_of(rows);
    return batch;
  }

  std::shared_ptr<Device> device_;
  mutable DeviceArray<Stamp> stamps_;
  mutable Argument rows_;
  mutable DeviceArray<Stamp> values_;
  mutable std::vector<Stamp> fetched_;
};

class DeviceStorage final : public Storage {
 public:
  explicit DeviceStorage(std::shared_ptr<Device> device) : device_(std::move(device)) {}
  [[nodiscard]] std::unique_ptr<PagePool> page_pool(Tokens size, Tokens page, bool need_sort) const override {
    return std::make_unique<DevicePagePool>(device_, size, page, need_sort);
  }
  [[nodiscard]] std::unique_ptr<Mapping> mapping(std::int64_t length) const override {
    return std::make_unique<DeviceMapping>(device_, length);
  }
  [[nodiscard]] std::unique_ptr<KvStore> kv_store(Pool /*side*/, std::int64_t rows) const override {
    return std::make_unique<DeviceKvStore>(device_, rows);
  }

 private:
  std::shared_ptr<Device> device_;
};

}  // namespace

std::shared_ptr<const Storage> device_storage(std::shared_ptr<Device> device) {
  return std::make_shared<DeviceStorage>(std::move(device));
}

}  // namespace poolproof
