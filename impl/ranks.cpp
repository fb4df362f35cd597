#include "impl/ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace poolproof {
namespace {

std::string_view answer_text(Answer answer) { return answer == Answer::served ? "served" : "refused"; }

std::string_view free_name(Side side) {
  constexpr std::array<std::string_view, 3> names{"free", "free_swa", "free_full"};
  return names.at(static_cast<std::size_t>(side));
}
std::string_view free_segments_name(Side side) {
  constexpr std::array<std::string_view, 3> names{"free_segments", "free_swa_segments", "free_full_segments"};
  return names.at(static_cast<std::size_t>(side));
}

struct Counter {
  std::string_view name;
  std::int64_t Gauges::*field;
};

constexpr std::array<Counter, 11> counters{{{"available", &Gauges::available},
                                            {"size", &Gauges::size},
                                            {"full_available", &Gauges::full_available},
                                            {"full_size", &Gauges::full_size},
                                            {"swa_available", &Gauges::swa_available},
                                            {"swa_size", &Gauges::swa_size},
                                            {"swa_pool_available", &Gauges::swa_pool_available},
                                            {"swa_pool_size", &Gauges::swa_pool_size},
                                            {"slots_free", &Gauges::slots_free},
                                            {"slots", &Gauges::slots},
                                            {"mapping_tail", &Gauges::mapping_tail}}};

/// A part of the whole state, by name.
struct StatePart {
  std::string_view name;
  std::string_view list;  ///< what its entries are called
  std::span<const std::int64_t> entries;
};

std::array<StatePart, 8> parts_of(const Census& census) {
  return {{{"the free list of the full pool", "pages", census.full.free},
           {"the staged list of the full pool", "pages", census.full.staged},
           {"the deferred list of the full pool", "pages", census.full.deferred},
           {"the free list of the SWA pool", "pages", census.swa.free},
           {"the staged list of the SWA pool", "pages", census.swa.staged},
           {"the deferred list of the SWA pool", "pages", census.swa.deferred},
           {"the mapping", "mapping", census.mapping},
           {"the list of free request slots", "slots", census.free_slots}}};
}

}  // namespace

RankedAllocator::RankedAllocator(std::vector<std::unique_ptr<Allocator>> ranks, const Geometry& geometry)
    : ranks_(std::move(ranks)), geometry_(geometry) {}

std::unique_ptr<Allocator> RankedAllocator::clone() const {
  std::vector<std::unique_ptr<Allocator>> copies;
  for (const std::unique_ptr<Allocator>& rank : ranks_) {
    copies.push_back(rank->clone());
    if (!copies.back()) {
      return nullptr;
    }
  }
  auto copy = std::make_unique<RankedAllocator>(std::move(copies), geometry_);
  copy->last_ = last_;
  copy->failure_ = failure_;
  copy->breakdown_ = breakdown_;
  copy->disagreement_ = disagreement_;
  return copy;
}

bool RankedAllocator::assign(const Allocator& other) {
  const auto& ranked = static_cast<const RankedAllocator&>(other);
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (!ranks_[i]->assign(*ranked.ranks_[i])) {
      ranks_[i] = ranked.ranks_[i]->clone();
    }
  }
  last_ = ranked.last_;
  failure_ = ranked.failure_;
  breakdown_ = ranked.breakdown_;
  disagreement_ = ranked.disagreement_;
  return true;
}

bool RankedAllocator::digest(StateDigest& out) const {
  return std::all_of(ranks_.begin(), ranks_.end(),
                     [&](const std::unique_ptr<Allocator>& rank) { return rank->digest(out); });
}

// ---- what went wrong

bool RankedAllocator::beyond_repair() const {
  return std::any_of(ranks_.begin(), ranks_.end(), [](const auto& rank) { return rank->beyond_repair(); });
}

Answer RankedAllocator::broke_down(std::uint32_t rank) {
  failure_ = fmt::format("rank {}: {}", rank, ranks_[rank]->failure());
  breakdown_ = ranks_[rank]->breakdown();
  return Answer::failed;
}

Answer RankedAllocator::disagree(Disagreement disagreement) {
  disagreement.expected = "rank 0: " + disagreement.expected;
  disagreement.seen = fmt::format("rank {}: {}", disagreement.rank, disagreement.seen);
  failure_ = disagreement.what;
  disagreement_ = std::move(disagreement);
  return Answer::failed;
}

Answer RankedAllocator::answers_otherwise(std::uint32_t rank, std::string_view call, Difference difference) {
  return disagree(
      {rank, std::string(call),
       fmt::format("rank {} answers {} otherwise than rank 0, and both were fed the same calls", rank, call),
       std::move(difference.expected), std::move(difference.seen)});
}

Answer RankedAllocator::state_differs(std::uint32_t rank, std::string_view part, Difference difference) {
  return disagree({rank, last_,
                   fmt::format("after {}, {} of rank {} is not that of rank 0, and both were fed the same calls", last_,
                               part, rank),
                   std::move(difference.expected), std::move(difference.seen)});
}

/// The first entry in which two lists differ, or their lengths.
template <typename Item>
std::optional<RankedAllocator::Difference> RankedAllocator::between(std::string_view name, std::span<const Item> mine,
                                                                    std::span<const Item> theirs) {
  const auto told = [&](std::span<const Item> list, std::size_t at) {
    return at < list.size() ? fmt::format("{}[{}] is {} (of {})", name, at, list[at], list.size())
                            : fmt::format("there are {} {}", list.size(), name);
  };
  const auto [here, there] = std::mismatch(mine.begin(), mine.end(), theirs.begin(), theirs.end());
  if (here == mine.end() && there == theirs.end()) {
    return std::nullopt;
  }
  const auto at = static_cast<std::size_t>(here - mine.begin());
  return Difference{told(mine, at), told(theirs, at)};
}

// ---- calls

/// `make` makes the call on one rank, from 0 on; `compare` looks at what a later one gave, once it was served.
template <typename Make, typename Compare>
Answer RankedAllocator::each(std::string_view call, const Make& make, const Compare& compare) {
  if (!failure_.empty()) {
    return Answer::failed;  // nothing can be said any more
  }
  last_ = call;
  Answer first = Answer::served;
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    const Answer answer = make(*ranks_[rank], rank);
    if (answer == Answer::failed) {
      return broke_down(rank);
    }
    if (rank == 0) {
      first = answer;
      continue;
    }
    if (answer != first) {
      return answers_otherwise(rank, call, {std::string(answer_text(first)), std::string(answer_text(answer))});
    }
    if (std::optional<Difference> difference = first == Answer::served ? compare() : std::nullopt) {
      return answers_otherwise(rank, call, *std::move(difference));
    }
  }
  return first;
}

template <typename Make>
Answer RankedAllocator::each(std::string_view call, const Make& make) {
  return each(
      call, [&](Allocator& allocator, std::uint32_t /*rank*/) { return make(allocator); },
      [] { return std::optional<Difference>(); });
}

template <typename Make>
Answer RankedAllocator::lend(std::string_view call, Locs& out, const Make& make) {
  return each(
      call, [&](Allocator& allocator, std::uint32_t rank) { return make(allocator, rank == 0 ? out : locs_); },
      [&] { return between<Loc>("locs", out, locs_); });
}

template <typename Make>
Answer RankedAllocator::read(std::string_view call, std::span<Stamp> out, const Make& make) {
  stamps_.resize(out.size());
  return each(
      call,
      [&](Allocator& allocator, std::uint32_t rank) { return make(allocator, rank == 0 ? out : std::span(stamps_)); },
      [&] { return between<Stamp>("stamps", out, stamps_); });
}

Answer RankedAllocator::alloc(Tokens tokens, Locs& out) {
  return lend("alloc", out, [&](Allocator& rank, Locs& locs) { return rank.alloc(tokens, locs); });
}

Answer RankedAllocator::alloc_extend(std::span<const Pos> prefix_lens, std::span<const Pos> seq_lens,
                                     std::span<const Loc> last_locs, Locs& out) {
  return lend("alloc_extend", out,
              [&](Allocator& rank, Locs& locs) { return rank.alloc_extend(prefix_lens, seq_lens, last_locs, locs); });
}

Answer RankedAllocator::alloc_decode(std::span<const Pos> seq_lens, std::span<const Loc> last_locs, Locs& out) {
  return lend("alloc_decode", out,
              [&](Allocator& rank, Locs& locs) { return rank.alloc_decode(seq_lens, last_locs, locs); });
}

Answer RankedAllocator::alloc_extend_swa_tail(Pos prefix_len, Pos seq_len, Loc last_loc, Tokens tail_len, Pos tail_end,
                                              Locs& out) {
  return lend("alloc_extend_swa_tail", out, [&](Allocator& rank, Locs& locs) {
    return rank.alloc_extend_swa_tail(prefix_len, seq_len, last_loc, tail_len, tail_end, locs);
  });
}

Answer RankedAllocator::free(Side side, std::span<const Loc> locs) {
  return each(free_name(side), [&](Allocator& rank) { return rank.free(side, locs); });
}

Answer RankedAllocator::free_segments(Side side, std::span<const Segment> segments) {
  return each(free_segments_name(side), [&](Allocator& rank) { return rank.free_segments(side, segments); });
}

Answer RankedAllocator::free_group_begin() {
  return each("free_group_begin", [](Allocator& rank) { return rank.free_group_begin(); });
}

Answer RankedAllocator::free_group_end() {
  return each("free_group_end", [](Allocator& rank) { return rank.free_group_end(); });
}

Answer RankedAllocator::set_full_to_swa_mapping(std::span<const Loc> full, std::span<const Loc> swa) {
  return each("set_full_to_swa_mapping", [&](Allocator& rank) { return rank.set_full_to_swa_mapping(full, swa); });
}

Answer RankedAllocator::clear_full_to_swa_mapping(std::span<const Loc> full) {
  return each("clear_full_to_swa_mapping", [&](Allocator& rank) { return rank.clear_full_to_swa_mapping(full); });
}

Answer RankedAllocator::translate_loc_from_full_to_swa(std::span<const Loc> full, std::span<Loc> out) {
  locs_.resize(out.size());
  const std::string before = last_;
  const Answer answer = each(
      "translate",
      [&](Allocator& allocator, std::uint32_t rank) {
        return allocator.translate_loc_from_full_to_swa(full, rank == 0 ? out : std::span(locs_));
      },
      [&] { return between<Loc>("locs", out, locs_); });
  last_ = before;  // it changes nothing
  return answer;
}

Answer RankedAllocator::clear() {
  return each("clear", [](Allocator& rank) { return rank.clear(); });
}

Answer RankedAllocator::resize(Tokens full, Tokens swa) {
  geometry_.full = full;
  geometry_.swa = swa;
  return each("resize", [&](Allocator& rank) { return rank.resize(full, swa); });
}

Answer RankedAllocator::backup_state(std::uint32_t key) {
  return each("backup_state", [&](Allocator& rank) { return rank.backup_state(key); });
}

Answer RankedAllocator::restore_state(std::uint32_t key) {
  return each("restore_state", [&](Allocator& rank) { return rank.restore_state(key); });
}

Answer RankedAllocator::take_slot(std::int64_t& slot) {
  std::int64_t theirs = -1;
  return each(
      "take_slot",
      [&](Allocator& allocator, std::uint32_t rank) { return allocator.take_slot(rank == 0 ? slot : theirs); },
      [&] {
        return slot == theirs ? std::nullopt
                              : std::optional(Difference{fmt::format("slot {}", slot), fmt::format("slot {}", theirs)});
      });
}

Answer RankedAllocator::give_slot(std::int64_t slot) {
  return each("give_slot", [&](Allocator& rank) { return rank.give_slot(slot); });
}

Answer RankedAllocator::write_full(std::span<const Loc> full_locs, std::span<const Stamp> stamps) {
  return each("write_full", [&](Allocator& rank) { return rank.write_full(full_locs, stamps); });
}

Answer RankedAllocator::read_full(std::span<const Loc> full_locs, std::span<Stamp> out) {
  return read("read_full", out,
              [&](Allocator& rank, std::span<Stamp> stamps) { return rank.read_full(full_locs, stamps); });
}

Answer RankedAllocator::write_swa(std::span<const Loc> full_locs, std::int64_t slot, Pos first_pos,
                                  std::span<const Stamp> stamps) {
  return each("write_swa", [&](Allocator& rank) { return rank.write_swa(full_locs, slot, first_pos, stamps); });
}

Answer RankedAllocator::read_swa(std::span<const Loc> full_locs, std::int64_t slot, Pos first_pos,
                                 std::span<Stamp> out) {
  return read("read_swa", out, [&](Allocator& rank, std::span<Stamp> stamps) {
    return rank.read_swa(full_locs, slot, first_pos, stamps);
  });
}

// ---- what the checks look at

Answer RankedAllocator::gauges(Gauges& out) {
  if (!failure_.empty()) {
    return Answer::failed;
  }
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    Gauges theirs;
    Gauges& seen = rank == 0 ? out : theirs;
    if (ranks_[rank]->gauges(seen) != Answer::served) {
      return broke_down(rank);
    }
    for (const Counter& counter : counters) {
      if (seen.*counter.field != out.*counter.field) {
        return state_differs(rank, counter.name,
                             {fmt::format("{}", out.*counter.field), fmt::format("{}", seen.*counter.field)});
      }
    }
  }
  return geometry_.full + geometry_.swa > large_pool_tokens ? Answer::served : compare_states();
}

Answer RankedAllocator::compare_states() {
  Census first;
  return census(first) == Answer::failed ? Answer::failed : Answer::served;
}

Answer RankedAllocator::census(Census& out) {
  if (!failure_.empty()) {
    return Answer::failed;
  }
  const Answer first = ranks_[0]->census(out);
  if (first == Answer::failed) {
    return broke_down(0);
  }
  for (std::uint32_t rank = 1; first == Answer::served && rank < ranks_.size(); ++rank) {
    if (compare_census(rank, out) == Answer::failed) {
      return Answer::failed;
    }
  }
  return first;
}

/// A rank that does not show its lists is not compared.
Answer RankedAllocator::compare_census(std::uint32_t rank, const Census& first) {
  Census theirs;
  const Answer answer = ranks_[rank]->census(theirs);
  if (answer != Answer::served) {
    return answer == Answer::failed ? broke_down(rank) : answer;
  }
  const auto expected = parts_of(first);
  const auto seen = parts_of(theirs);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::optional<Difference> difference =
            between<std::int64_t>(expected[i].list, expected[i].entries, seen[i].entries)) {
      return state_differs(rank, expected[i].name, *std::move(difference));
    }
  }
  return Answer::served;
}

// ---- entries

Result<std::unique_ptr<Allocator>, std::string> build_rank(const ImplInfo& impl, const Geometry& geometry,
                                                           std::uint32_t rank) {
  return impl.make_rank ? impl.make_rank(geometry, rank) : impl.make(geometry);
}

ImplInfo with_ranks(const ImplInfo& impl, std::uint32_t ranks) {
  const std::uint32_t count = std::max(ranks, impl.ranks);
  if (count == 1) {
    return impl;
  }
  ImplInfo ranked = impl;
  ranked.ranks = count;
  ranked.make_rank = {};
  ranked.make = [impl, count](const Geometry& g) -> Result<std::unique_ptr<Allocator>, std::string> {
    if (impl.memory) {
      return impl.name + " builds the memory of its pools, and replicas of those are not compared; leave --ranks out";
    }
    std::vector<std::unique_ptr<Allocator>> built;
    for (std::uint32_t rank = 0; rank < count; ++rank) {
      auto one = build_rank(impl, g, rank);
      if (!one) {
        return rank == 0 ? one.error() : fmt::format("rank {}: {}", rank, one.error());
      }
      built.push_back(std::move(one).value());
    }
    return std::unique_ptr<Allocator>(std::make_unique<RankedAllocator>(std::move(built), g));
  };
  return ranked;
}

}  // namespace poolproof
