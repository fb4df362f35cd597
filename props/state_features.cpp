#include "props/state_features.hpp"

#include <algorithm>
#include <optional>
#include <variant>

#include "props/swarm.hpp"

namespace poolproof {
namespace {

constexpr std::size_t outcomes = 2;
constexpr std::size_t deferred_kinds = 3;
constexpr std::size_t pair_count = op_word_count * op_word_count * outcomes;
constexpr std::size_t filled_count = op_word_count * outcomes * fill_buckets * fill_buckets * deferred_kinds;
constexpr std::size_t aged_count = op_word_count * outcomes * tombstone_buckets * ring_buckets;
constexpr std::size_t state_count =
    fill_buckets * fill_buckets * staged_buckets * deferred_kinds * tombstone_buckets * ring_buckets;
static_assert(pair_count + filled_count + aged_count + state_count <= feature_limit);

std::uint8_t fill_bucket(std::int64_t free_pages, std::int64_t pages) {
  if (free_pages == pages) {
    return 4;
  }
  if (free_pages <= 1) {
    return static_cast<std::uint8_t>(free_pages);
  }
  return 2 * free_pages <= pages ? 2 : 3;
}

std::uint8_t count_bucket(std::int64_t count, std::int64_t most) {
  return static_cast<std::uint8_t>(std::clamp<std::int64_t>(count, 0, most));
}

std::uint8_t tombstone_bucket(std::int64_t pages) {
  return pages > 3 ? std::uint8_t{3} : pages > 1 ? std::uint8_t{2} : count_bucket(pages, 1);
}

std::uint8_t ring_bucket(const Geometry& g, Pos length) {
  if (!g.ringed() || length == 0) {
    return 0;
  }
  if (length % g.ring == 0) {
    return 3;
  }
  return length < g.window ? 1 : length < g.ring ? 2 : 4;
}

/// The first row that an op names.
struct NamedRow {
  using Named = std::optional<Row>;
  Named operator()(const op::Extend& op) const { return op.pieces.front().row; }
  Named operator()(const op::Decode& op) const { return op.rows.front(); }
  Named operator()(const op::Free& op) const { return op.pieces.front().row; }
  Named operator()(const op::Copy& op) const { return op.to; }
  Named operator()(const op::Remap& op) const { return op.to; }
  template <typename Other>
  Named operator()(const Other& op) const {
    if constexpr (requires { op.row; }) {
      return op.row;
    } else {
      return std::nullopt;
    }
  }
};

/// Appends digits of a mixed-radix number.
class Number {
 public:
  Number& digit(std::size_t value, std::size_t radix) {
    value_ = value_ * radix + value;
    return *this;
  }
  [[nodiscard]] std::uint32_t behind(std::size_t first) const { return static_cast<std::uint32_t>(first + value_); }

 private:
  std::size_t value_ = 0;
};

}  // namespace

void StateFeatures::begin(const Machine& machine) {
  state_ = {};
  last_ = OpWord::expect;
  free_before_ = machine.full_free_pages();
  staged_pages_ = 0;
  row_ = 0;
}

void StateFeatures::follow_staged(const Machine& machine, OpWord word, bool refused) {
  const std::int64_t gained = machine.full_free_pages() - free_before_;
  const bool short_of_pages = -gained > free_before_ - staged_pages_;
  if (!machine.geometry().need_sort || word_empties(word) || word == OpWord::restore ||
      (word_lends(word) && (refused || short_of_pages))) {
    staged_pages_ = 0;
  } else if (gained > 0) {
    staged_pages_ += gained;
  }
  free_before_ += gained;
}

void StateFeatures::look_at_counts(const Machine& machine) {
  const Geometry& g = machine.geometry();
  const std::int64_t full_lent = g.full_pages() - machine.full_free_pages() - machine.full_deferred_pages();
  state_.full_fill = fill_bucket(machine.full_free_pages(), g.full_pages());
  state_.staged = count_bucket(staged_pages_, 2);
  state_.deferred =
      machine.group_open()
          ? static_cast<std::uint8_t>(1 + count_bucket(machine.full_deferred_pages() + machine.swa_deferred_pages(), 2))
          : std::uint8_t{0};
  if (g.paired()) {
    const std::int64_t swa_lent = g.swa_pages() - machine.swa_free_pages() - machine.swa_deferred_pages();
    state_.swa_fill = fill_bucket(machine.swa_free_pages(), g.swa_pages());
    state_.tombstones = tombstone_bucket(full_lent - swa_lent);
  }
  state_.ring = ring_bucket(g, machine.row_length(row_));
}

StateFeatures::Reached StateFeatures::after(const Op& op, const Machine& machine, bool refused) {
  const OpWord word = word_of(op);
  row_ = std::visit(NamedRow{}, op).value_or(row_);
  follow_staged(machine, word, refused);
  look_at_counts(machine);
  const auto number = static_cast<std::size_t>(word);
  const std::size_t outcome = refused ? 1 : 0;
  const std::size_t deferred = std::min<std::size_t>(state_.deferred, deferred_kinds - 1);
  const Reached reached{Number()
                            .digit(number, op_word_count)
                            .digit(static_cast<std::size_t>(last_), op_word_count)
                            .digit(outcome, 2)
                            .behind(0),
                        Number()
                            .digit(number, op_word_count)
                            .digit(outcome, 2)
                            .digit(state_.full_fill, fill_buckets)
                            .digit(state_.swa_fill, fill_buckets)
                            .digit(deferred, deferred_kinds)
                            .behind(pair_count),
                        Number()
                            .digit(number, op_word_count)
                            .digit(outcome, 2)
                            .digit(state_.tombstones, tombstone_buckets)
                            .digit(state_.ring, ring_buckets)
                            .behind(pair_count + filled_count),
                        Number()
                            .digit(state_.full_fill, fill_buckets)
                            .digit(state_.swa_fill, fill_buckets)
                            .digit(state_.staged, staged_buckets)
                            .digit(deferred, deferred_kinds)
                            .digit(state_.tombstones, tombstone_buckets)
                            .digit(state_.ring, ring_buckets)
                            .behind(pair_count + filled_count + aged_count)};
  last_ = word;
  return reached;
}

}  // namespace poolproof
