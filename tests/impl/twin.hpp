// A host twin with the calls that tests make often, each of which must be served unless the name says otherwise.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "impl/host/host.hpp"

namespace poolproof::testing {

class Twin {
 public:
  explicit Twin(const Geometry& geometry) : Twin(built(geometry)) {}
  explicit Twin(std::unique_ptr<Allocator> allocator) : allocator_(std::move(allocator)) {}

  Allocator& operator*() { return *allocator_; }
  Allocator* operator->() { return allocator_.get(); }
  [[nodiscard]] Twin clone() const { return Twin(allocator_->clone()); }

  Locs alloc(Tokens tokens) {
    Locs out;
    EXPECT_EQ(allocator_->alloc(tokens, out), Answer::served);
    return out;
  }
  Answer try_extend(Pos prefix, Pos seq, Loc last, Locs& out) {
    return allocator_->alloc_extend(std::span<const Pos>(&prefix, 1), std::span<const Pos>(&seq, 1),
                                    std::span<const Loc>(&last, 1), out);
  }
  Locs extend(Pos prefix, Pos seq, Loc last = -1) {
    Locs out;
    EXPECT_EQ(try_extend(prefix, seq, last, out), Answer::served);
    return out;
  }
  Answer try_decode(Pos seq, Loc last, Locs& out) {
    return allocator_->alloc_decode(std::span<const Pos>(&seq, 1), std::span<const Loc>(&last, 1), out);
  }
  Loc decode(Pos seq, Loc last) {
    Locs out;
    EXPECT_EQ(try_decode(seq, last, out), Answer::served);
    return out.size() == 1 ? out[0] : -1;
  }
  void free(const Locs& locs, Side side = Side::both) { EXPECT_EQ(allocator_->free(side, locs), Answer::served); }
  void free_segment(const Locs& locs, Pos start, Side side = Side::both) {
    const Segment segment{locs, start};
    EXPECT_EQ(allocator_->free_segments(side, std::span<const Segment>(&segment, 1)), Answer::served);
  }
  Locs translate(const Locs& full) {
    Locs out(full.size());
    EXPECT_EQ(allocator_->translate_loc_from_full_to_swa(full, out), Answer::served);
    return out;
  }
  std::int64_t take_slot() {
    std::int64_t slot = -1;
    EXPECT_EQ(allocator_->take_slot(slot), Answer::served);
    return slot;
  }
  Gauges gauges() {
    Gauges out;
    EXPECT_EQ(allocator_->gauges(out), Answer::served);
    return out;
  }
  Census census() {
    Census out;
    EXPECT_EQ(allocator_->census(out), Answer::served);
    return out;
  }

 private:
  static std::unique_ptr<Allocator> built(const Geometry& geometry) {
    auto made = make_host(geometry);
    EXPECT_TRUE(made.ok()) << (made.ok() ? std::string() : made.error());
    return std::move(made).value();
  }

  std::unique_ptr<Allocator> allocator_;
};

inline Geometry token_pool(Tokens full) { return {.layout = Layout::token, .page = 1, .full = full, .reqs = 2}; }
inline Geometry paged_pool(Tokens page, std::int64_t pages, bool need_sort = false) {
  return {.layout = Layout::paged, .page = page, .full = pages * page, .reqs = 2, .need_sort = need_sort};
}
inline Geometry hybrid_pool(Tokens page, std::int64_t full_pages, std::int64_t swa_pages) {
  return {.layout = Layout::hybrid,
          .page = page,
          .full = full_pages * page,
          .swa = swa_pages * page,
          .window = 2 * page,
          .reqs = 2};
}
inline Geometry ring_pool(Tokens page, std::int64_t full_pages, std::int64_t swa_pages, Tokens ring) {
  Geometry g = hybrid_pool(page, full_pages, swa_pages);
  g.window = ring;
  g.ring = ring;
  return g;
}

}  // namespace poolproof::testing
