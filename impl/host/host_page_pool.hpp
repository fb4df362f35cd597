// A pool of pages with its lists in this process's memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "impl/host/page_pool.hpp"

namespace poolproof {

class HostPagePool final : public PagePool {
 public:
  HostPagePool(Tokens size, Tokens page, bool need_sort);

  [[nodiscard]] std::unique_ptr<PagePool> clone() const override;
  bool assign(const PagePool& other) override {
    *this = static_cast<const HostPagePool&>(other);
    return true;
  }
  void clear() override;
  void merge_staged() override;
  void lend(std::span<Loc> out) override;
  void lend_extend(std::span<const Pos> prefix_lens, std::span<const Pos> seq_lens, std::span<const Loc> last_locs,
                   std::span<Loc> out) override;
  void lend_decode(std::span<const Pos> seq_lens, std::span<const Loc> last_locs, std::span<Loc> out) override;
  void release(std::span<const Page> pages) override;
  [[nodiscard]] const PageLists& lists() const override { return lists_; }
  void set_lists(const PageLists& lists) override;
  void census(PoolCensus& out) const override;

 private:
  void count();
  Page take_page();
  void take(std::span<Loc> out);

  PageLists lists_;
};

}  // namespace poolproof
