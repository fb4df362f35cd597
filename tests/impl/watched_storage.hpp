// A storage for tests: the host's, with each call counted by name, and one of them broken on demand.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "impl/host/storage.hpp"

namespace poolproof::testing {

/// What a storage and all its pieces were asked. The call that is broken throws once: a caller that goes on is seen.
struct StorageWatch {
  std::uint64_t calls = 0;
  std::map<std::string, std::uint64_t> by_name;
  std::uint64_t break_call = 0;  ///< the call of this number throws; 0: none
  std::string break_name;        ///< calls of this name throw

  void note(const std::string& name) {
    ++calls;
    ++by_name[name];
    if (calls == break_call || name == break_name) {
      throw StorageError("the device is gone in " + name, "device gone");
    }
  }
};

using Watch = std::shared_ptr<StorageWatch>;

class WatchedPagePool final : public PagePool {
 public:
  WatchedPagePool(std::unique_ptr<PagePool> inner, Watch watch)
      : PagePool(inner->size(), inner->page(), inner->need_sort()), inner_(std::move(inner)), watch_(std::move(watch)) {
    follow();
  }

  [[nodiscard]] std::unique_ptr<PagePool> clone() const override {
    watch_->note("PagePool::clone");
    return std::make_unique<WatchedPagePool>(inner_->clone(), watch_);
  }
  void clear() override {
    watch_->note("PagePool::clear");
    inner_->clear();
    follow();
  }
  void merge_staged() override {
    watch_->note("PagePool::merge_staged");
    inner_->merge_staged();
    follow();
  }
  void lend(std::span<Loc> out) override {
    watch_->note("PagePool::lend");
    inner_->lend(out);
    follow();
  }
  void lend_extend(std::span<const Pos> prefix_lens, std::span<const Pos> seq_lens, std::span<const Loc> last_locs,
                   std::span<Loc> out) override {
    watch_->note("PagePool::lend_extend");
    inner_->lend_extend(prefix_lens, seq_lens, last_locs, out);
    follow();
  }
  void lend_decode(std::span<const Pos> seq_lens, std::span<const Loc> last_locs, std::span<Loc> out) override {
    watch_->note("PagePool::lend_decode");
    inner_->lend_decode(seq_lens, last_locs, out);
    follow();
  }
  void release(std::span<const Page> pages) override {
    watch_->note("PagePool::release");
    inner_->release(pages);
    follow();
  }
  [[nodiscard]] const PageLists& lists() const override {
    watch_->note("PagePool::lists");
    return inner_->lists();
  }
  void set_lists(const PageLists& lists) override {
    watch_->note("PagePool::set_lists");
    inner_->set_lists(lists);
    follow();
  }
  void census(PoolCensus& out) const override {
    watch_->note("PagePool::census");
    inner_->census(out);
  }

 private:
  void follow() { set_lengths(inner_->free_pages(), inner_->staged_pages()); }

  std::unique_ptr<PagePool> inner_;
  Watch watch_;
};

class WatchedMapping final : public Mapping {
 public:
  WatchedMapping(std::unique_ptr<Mapping> inner, Watch watch) : inner_(std::move(inner)), watch_(std::move(watch)) {}

  [[nodiscard]] std::unique_ptr<Mapping> clone() const override {
    watch_->note("Mapping::clone");
    return std::make_unique<WatchedMapping>(inner_->clone(), watch_);
  }
  void reset(std::int64_t length) override {
    watch_->note("Mapping::reset");
    inner_->reset(length);
  }
  void translate(std::span<const Loc> full, std::span<Loc> out) const override {
    watch_->note("Mapping::translate");
    inner_->translate(full, out);
  }
  void pair(std::span<const Loc> full, std::span<const Loc> swa) override {
    watch_->note("Mapping::pair");
    inner_->pair(full, swa);
  }
  void clear(std::span<const Loc> full) override {
    watch_->note("Mapping::clear");
    inner_->clear(full);
  }
  void clear_pages(std::span<const Page> full_pages, Tokens page) override {
    watch_->note("Mapping::clear_pages");
    inner_->clear_pages(full_pages, page);
  }
  void peer_pages(std::span<const Page> full_pages, Tokens page, std::vector<Page>& out) const override {
    watch_->note("Mapping::peer_pages");
    inner_->peer_pages(full_pages, page, out);
  }
  [[nodiscard]] Loc tail() const override {
    watch_->note("Mapping::tail");
    return inner_->tail();
  }
  [[nodiscard]] std::span<const Loc> entries() const override {
    watch_->note("Mapping::entries");
    return inner_->entries();
  }

 private:
  std::unique_ptr<Mapping> inner_;
  Watch watch_;
};

class WatchedKvStore final : public KvStore {
 public:
  WatchedKvStore(std::unique_ptr<KvStore> inner, Watch watch) : inner_(std::move(inner)), watch_(std::move(watch)) {}

  [[nodiscard]] std::unique_ptr<KvStore> clone() const override {
    watch_->note("KvStore::clone");
    return std::make_unique<WatchedKvStore>(inner_->clone(), watch_);
  }
  void store(std::span<const std::int64_t> rows, std::span<const Stamp> stamps) override {
    watch_->note("KvStore::store");
    inner_->store(rows, stamps);
  }
  void load(std::span<const std::int64_t> rows, std::span<Stamp> out) const override {
    watch_->note("KvStore::load");
    inner_->load(rows, out);
  }
  [[nodiscard]] std::span<const Stamp> rows() const override {
    watch_->note("KvStore::rows");
    return inner_->rows();
  }

 private:
  std::unique_ptr<KvStore> inner_;
  Watch watch_;
};

class WatchedStorage final : public Storage {
 public:
  explicit WatchedStorage(Watch watch) : watch_(std::move(watch)) {}

  [[nodiscard]] std::unique_ptr<PagePool> page_pool(Tokens size, Tokens page, bool need_sort) const override {
    watch_->note("page_pool");
    return std::make_unique<WatchedPagePool>(host_storage()->page_pool(size, page, need_sort), watch_);
  }
  [[nodiscard]] std::unique_ptr<Mapping> mapping(std::int64_t length) const override {
    watch_->note("mapping");
    return std::make_unique<WatchedMapping>(host_storage()->mapping(length), watch_);
  }
  [[nodiscard]] std::unique_ptr<KvStore> kv_store(Pool side, std::int64_t rows) const override {
    watch_->note("kv_store");
    return std::make_unique<WatchedKvStore>(host_storage()->kv_store(side, rows), watch_);
  }

 private:
  Watch watch_;
};

}  // namespace poolproof::testing
