#include "props/swarm.hpp"

namespace poolproof {
namespace {

using W = OpWord;

constexpr std::uint32_t lean = 6;  ///< how much more often a profile's words come

std::uint32_t base_weight(OpWord word) {
  switch (word) {
    case W::extend:
      return 24;
    case W::decode:
    case W::free:
      return 14;
    case W::write:
    case W::read:
    case W::free_swa:
    case W::remap:
      return 10;
    case W::alloc:
    case W::tail:
    case W::free_segment:
    case W::free_swa_segment:
    case W::copy:
    case W::slot:
    case W::group_end:
      return 8;
    case W::free_full:
    case W::free_full_segment:
    case W::group_begin:
    case W::drop:
    case W::unslot:
    case W::trim:
      return 5;
    case W::unmap:
    case W::restore:
      return 3;
    case W::group_begin_again:
    case W::group_end_again:
    case W::backup:
    case W::expect:
      return 2;
    case W::clear:
    case W::resize:
    case W::destroy:
      return 1;
    case W::pause:
      return 4;
    case W::resume:
      return 10;
    case W::build:
      return 20;
    case W::flush:
      return 2;
  }
  return 0;
}

/// Words about the memory behind the pools.
bool of_memory(OpWord word) {
  switch (word) {
    case W::pause:
    case W::resume:
    case W::destroy:
    case W::build:
    case W::flush:
      return true;
    default:
      return false;
  }
}

/// A set of words, one bit each.
template <typename... Words>
constexpr std::uint64_t words(Words... word) {
  return (std::uint64_t{0} | ... | (std::uint64_t{1} << static_cast<unsigned>(word)));
}

/// Words that each profile leans to, in the order of Profile.
constexpr std::array<std::uint64_t, profile_count> favourites = {
    words(),
    words(W::extend, W::alloc, W::free, W::free_segment),
    words(W::extend, W::free, W::slot, W::unslot),
    words(W::extend, W::decode, W::trim, W::write),
    words(W::copy, W::drop, W::free, W::read),
    words(W::decode, W::free_swa, W::free_swa_segment, W::free_full),
    words(W::tail, W::free, W::free_segment, W::free_swa),
    words(W::group_begin, W::free, W::free_swa, W::remap, W::free_segment),
    words(W::remap, W::free_swa, W::unmap, W::write, W::read),
    words(W::extend, W::free, W::write),
    words(W::slot, W::unslot, W::write, W::read, W::decode),
    words(W::backup, W::restore, W::clear, W::resize),
    words(W::pause, W::resume, W::destroy, W::flush, W::write, W::read),
};

/// Words that a trace never goes without: something is lent, something is given back, groups end, memory comes back.
bool essential(OpWord word) {
  switch (word) {
    case W::extend:
    case W::free:
    case W::group_end:
    case W::resume:
    case W::build:
      return true;
    default:
      return false;
  }
}

void draw_weights(const Geometry& g, Choices& choices, Swarm& swarm) {
  // Every fourth trace keeps all words, so that each pair of them can follow each other.
  const bool all_words = choices.odds(1, 4);
  for (std::size_t i = 0; i < op_word_count; ++i) {
    const auto word = static_cast<OpWord>(i);
    if (of_memory(word) && !word_offered(word, g)) {
      continue;  // no choice is drawn: a seed's traces of pools without memory are as old as the seed
    }
    const bool favourite = (favourites.at(static_cast<std::size_t>(swarm.profile)) & words(word)) != 0;
    const bool kept = favourite || essential(word) || all_words || choices.odds(10, 16);
    swarm.weights.at(i) = kept && word_offered(word, g) ? base_weight(word) * (favourite ? lean : 1) : 0;
  }
}

void draw_habits(Choices& choices, Swarm& swarm) {
  Habits& habits = swarm.habits;
  habits.write = static_cast<std::uint64_t>(16 - choices.between(0, 8));
  habits.read = static_cast<std::uint64_t>(choices.between(1, 10));
  switch (swarm.profile) {
    case Profile::speculate:
      habits.reject = 12;
      break;
    case Profile::share:
      habits.share = 8;
      break;
    case Profile::evict:
    case Profile::load_back:
      habits.evict = 10;
      break;
    case Profile::retract:
    case Profile::churn:
      habits.retract = 5;
      break;
    case Profile::recycle:
      habits.admit = 16;
      habits.retract = 3;
      break;
    default:
      habits.reject = choices.draw(4);
      break;
  }
}

/// Kernels work in blocks of up to 1,024 threads, and go wrong where one block ends and the next begins.
void draw_crowd(Choices& choices, Swarm& swarm) {
  if (choices.odds(1, 2)) {
    swarm.running = static_cast<Row>(choices.between(1025, 2100));
    swarm.batch = swarm.running;
  }
}

}  // namespace

bool word_lends(OpWord word) { return word == W::alloc || word == W::extend || word == W::decode || word == W::tail; }

bool word_empties(OpWord word) {
  switch (word) {
    case W::clear:
    case W::resize:
    case W::destroy:
    case W::build:
    case W::flush:
      return true;
    default:
      return false;
  }
}

bool word_frees(OpWord word) {
  switch (word) {
    case W::free:
    case W::free_swa:
    case W::free_full:
    case W::free_segment:
    case W::free_swa_segment:
    case W::free_full_segment:
      return true;
    default:
      return false;
  }
}

bool word_offered(OpWord word, const Geometry& g) {
  switch (word) {
    case W::slot:
    case W::unslot:
      return g.reqs > 0;
    case W::alloc:
      return !g.hybrid() || g.page == 1;
    case W::tail:
    case W::remap:
    case W::unmap:
      return g.hybrid();
    case W::free_swa:
    case W::free_swa_segment:
    case W::free_full:
    case W::free_full_segment:
      return g.sliding();
    case W::trim:
      return g.page > 1;
    case W::write:
    case W::read:
      return !g.ringed() || g.reqs > 0;
    case W::resize:
      return g.kv.none();
    default:
      return !of_memory(word) || !g.kv.none();
  }
}

Swarm draw_swarm(const Geometry& g, Choices& choices) {
  Swarm swarm;
  swarm.profile = static_cast<Profile>(choices.draw(g.kv.none() ? profile_count - 1 : profile_count));
  swarm.running = static_cast<Row>(choices.between(2, 6));
  swarm.cached = static_cast<Row>(choices.between(1, 4));
  swarm.batch = static_cast<std::size_t>(choices.between(1, 4));
  swarm.phases = swarm.profile == Profile::fill_drain || choices.odds(1, 2);
  swarm.one_op_runs = choices.odds(1, 3);
  draw_weights(g, choices, swarm);
  draw_habits(choices, swarm);
  if (g.full_pages() >= crowd_pages) {
    draw_crowd(choices, swarm);
  }
  return swarm;
}

}  // namespace poolproof
