#include "props/generator.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <utility>

#include "props/propose.hpp"
#include "props/shadow.hpp"
#include "props/swarm.hpp"

namespace poolproof {
namespace {

/// What a caller does next on a row, out of habit.
enum class Habit : std::uint8_t {
  write,      ///< store what was lent
  read,       ///< attend to it
  reject,     ///< back to length `at`: free whole rejected pages, then trim
  evict,      ///< give back what left the window
  hand_over,  ///< a cache row takes the whole pages over
  let_go,     ///< drop what the cache row holds now
  retire,     ///< free the row whole
  leave,      ///< give the request slot back
  restart,    ///< extend the row from nothing
};

struct Intent {
  Habit habit = Habit::write;
  Row row = 0;
  Pos at = 0;
};

enum class Phase : std::uint8_t { steady, fill, drain };

constexpr std::uint32_t longest_phase = 40;
constexpr std::uint32_t longest_run = 20;
constexpr int most_tries = 8;
constexpr std::uint32_t group_patience = 4;  ///< ops in a group after which its end becomes twice as likely

/// The order in which words are drawn. An empty tape takes the first that can be: it fills, and frees in a drain.
constexpr std::array<OpWord, op_word_count> draw_order = {
    OpWord::extend,
    OpWord::free,
    OpWord::alloc,
    OpWord::decode,
    OpWord::tail,
    OpWord::free_segment,
    OpWord::free_swa,
    OpWord::free_swa_segment,
    OpWord::free_full,
    OpWord::free_full_segment,
    OpWord::write,
    OpWord::read,
    OpWord::trim,
    OpWord::slot,
    OpWord::unslot,
    OpWord::copy,
    OpWord::drop,
    OpWord::remap,
    OpWord::unmap,
    OpWord::group_begin,
    OpWord::group_end,
    OpWord::group_end_again,
    OpWord::group_begin_again,
    OpWord::backup,
    OpWord::restore,
    OpWord::clear,
    OpWord::resize,
    OpWord::pause,
    OpWord::resume,
    OpWord::flush,
    OpWord::build,
    OpWord::destroy,
    OpWord::expect,
};

std::size_t index_of(OpWord word) { return static_cast<std::size_t>(word); }

/// Words that start the world anew; they end a phase too early when they come inside one.
bool renews(OpWord word) { return word_empties(word) || word == OpWord::restore; }

/// The rows that a lending op continues.
std::vector<Piece> lent_pieces(const Op& op, const Shadow& shadow) {
  if (const auto* extend = std::get_if<op::Extend>(&op)) {
    return extend->pieces;
  }
  if (const auto* alloc = std::get_if<op::Alloc>(&op)) {
    return {{alloc->row, alloc->range}};
  }
  if (const auto* tail = std::get_if<op::Tail>(&op)) {
    return {{tail->row, tail->range}};
  }
  std::vector<Piece> pieces;
  if (const auto* decode = std::get_if<op::Decode>(&op)) {
    for (const Row row : decode->rows) {
      pieces.push_back({row, {shadow.row(row).length - 1, shadow.row(row).length}});
    }
  }
  return pieces;
}

}  // namespace

struct Generator::State {
  State(const Geometry& geometry, Choices& source)
      : geo(geometry), choices(source), swarm(draw_swarm(geometry, source)), shadow(geometry) {
    phase = swarm.phases ? Phase::fill : Phase::steady;
    weigh();
  }

  Geometry geo;
  Choices& choices;
  Swarm swarm;
  Shadow shadow;
  std::optional<Op> last;
  std::deque<Intent> intents;
  Phase phase = Phase::steady;
  std::uint32_t phase_ops = 0;
  std::uint32_t group_ops = 0;
  OpWord run_word = OpWord::expect;
  std::uint32_t run_left = 0;
  std::array<bool, op_word_count> forbidden{};
  std::function<bool(const Op&, const Machine&)> takes;
  std::array<WordWeights, 3> phase_weights{};  ///< by Phase

  Op next(Machine& machine);
  void forbid(OpWord word);

 private:
  void weigh() { phase_weights = {weights_of(Phase::steady), weights_of(Phase::fill), weights_of(Phase::drain)}; }
  [[nodiscard]] Scene scene(const Machine& machine) const {
    return {geo, machine, shadow, swarm, choices, phase == Phase::fill, last ? word_of(*last) : OpWord::expect};
  }
  /// Odds out of 16; never on an empty tape.
  [[nodiscard]] bool inclined(std::uint64_t sixteenths) const { return choices.draw(16) + sixteenths >= 16; }

  [[nodiscard]] bool acceptable(const Op& op, Machine& machine) const {
    return !forbidden.at(index_of(word_of(op))) && machine.admits(op) && (!takes || takes(op, machine));
  }
  void take_in(const Machine& machine);
  void advance_phase(const Machine& machine);
  void follow_up(const Op& op, const Machine& machine);
  void follow_lending(const Piece& piece);
  Op choose(Machine& machine);
  std::optional<Op> from_intents(Machine& machine);
  std::optional<Op> pursue(Intent intent, const Scene& scene);
  std::optional<Op> pursue_reject(Intent intent, const Scene& scene);
  std::optional<Op> from_run(Machine& machine);
  std::optional<Op> from_words(Machine& machine);
  [[nodiscard]] bool exhausted(const Machine& machine) const {
    return machine.full_free_pages() == 0 || (geo.paired() && machine.swa_free_pages() == 0);
  }
  [[nodiscard]] WordWeights weights_now(const Machine& machine) const;
  [[nodiscard]] WordWeights weights_of(Phase when) const;
  [[nodiscard]] std::optional<OpWord> draw_word(const WordWeights& weights) const;
  [[nodiscard]] std::optional<Op> slot_first(const Op& op, const Machine& machine) const;
};

Op Generator::State::next(Machine& machine) {
  if (last) {
    take_in(machine);
  }
  last = choose(machine);
  return *last;
}

void Generator::State::forbid(OpWord word) {
  forbidden.at(index_of(word)) = true;
  swarm.weights.at(index_of(word)) = 0;
  weigh();
}

/// The last op was carried out: remember it, and what its caller would do next.
void Generator::State::take_in(const Machine& machine) {
  shadow.apply(*last, machine);
  group_ops = machine.group_open() ? group_ops + 1 : 0;
  advance_phase(machine);
  const OpWord word = word_of(*last);
  if (renews(word)) {
    intents.clear();
  } else if (word_lends(word) && !machine.last_refused()) {
    follow_up(*last, machine);
  }
}

void Generator::State::advance_phase(const Machine& machine) {
  if (!swarm.phases) {
    return;
  }
  ++phase_ops;
  const Phase before = phase;
  const bool refused = word_lends(word_of(*last)) && machine.last_refused();
  const bool empty = machine.full_free_pages() * geo.page == machine.full_size();
  if (phase == Phase::fill && (phase_ops > longest_phase || (refused && choices.odds(1, 2)))) {
    phase = Phase::drain;
  } else if (phase == Phase::drain && (phase_ops > longest_phase || empty)) {
    phase = choices.draw(2) == 0 ? Phase::fill : Phase::steady;
  } else if (phase == Phase::steady && phase_ops > longest_phase / 2) {
    phase = Phase::fill;
  }
  if (phase != before) {
    phase_ops = 0;
  }
}

void Generator::State::follow_up(const Op& op, const Machine& machine) {
  for (const Piece& piece : lent_pieces(op, shadow)) {
    follow_lending(piece);
  }
  const Row row = static_cast<Row>(choices.draw(swarm.rows()));
  if (shadow.row(row).length == 0 || machine.group_open()) {
    return;
  }
  if (inclined(swarm.habits.share)) {
    intents.push_back({Habit::hand_over, row, 0});
    intents.push_back({Habit::let_go, row, 0});
  }
  if (inclined(swarm.habits.retract)) {
    intents.push_back({Habit::retire, row, 0});
    if (choices.odds(1, 2)) {
      intents.push_back({Habit::leave, row, 0});
    }
    intents.push_back({Habit::restart, row, 0});
  }
}

void Generator::State::follow_lending(const Piece& piece) {
  if (choices.odds(swarm.habits.write, 16)) {
    intents.push_back({Habit::write, piece.row, 0});
    if (inclined(swarm.habits.read)) {
      intents.push_back({Habit::read, piece.row, 0});
    }
  }
  if (inclined(swarm.habits.reject)) {
    intents.push_back({Habit::reject, piece.row, choices.between(piece.range.begin, piece.range.end - 1)});
    intents.push_back({Habit::read, piece.row, 0});
  }
  if (geo.sliding() && inclined(swarm.habits.evict)) {
    intents.push_back({Habit::evict, piece.row, 0});
  }
}

Op Generator::State::choose(Machine& machine) {
  if (auto op = from_intents(machine)) {
    return *std::move(op);
  }
  if (auto op = from_run(machine)) {
    return *std::move(op);
  }
  if (auto op = from_words(machine)) {
    return *std::move(op);
  }
  return *propose(OpWord::expect, scene(machine));
}

std::optional<Op> Generator::State::from_intents(Machine& machine) {
  while (!intents.empty() && choices.draw(8) < 6) {
    const Intent intent = intents.front();
    intents.pop_front();
    auto op = pursue(intent, scene(machine));
    if (op && acceptable(*op, machine)) {
      return op;
    }
  }
  return std::nullopt;
}

std::optional<Op> Generator::State::pursue(Intent intent, const Scene& scene) {
  const RowMemo& row = shadow.row(intent.row);
  switch (intent.habit) {
    case Habit::write:
      return propose_write_row(scene, intent.row);
    case Habit::read:
      return propose_read_row(scene, intent.row);
    case Habit::reject:
      return pursue_reject(intent, scene);
    case Habit::evict:
      return propose_evict(scene, intent.row);
    case Habit::hand_over:
      return propose_hand_over(scene, intent.row);
    case Habit::let_go:
      return propose_drop_row(scene, intent.row);
    case Habit::retire:
      return propose_free_row(scene, intent.row);
    case Habit::leave:
      return row.slot ? std::optional<Op>(op::SlotGive{intent.row}) : std::nullopt;
    case Habit::restart: {
      const Pos length = scene.choices.between(1, 2 * geo.page + 1);
      return row.length == 0 ? std::optional<Op>(op::Extend{{{intent.row, {0, length}}}}) : std::nullopt;
    }
  }
  return std::nullopt;
}

/// Whole rejected pages go first (C10); the trim waits until they are gone.
std::optional<Op> Generator::State::pursue_reject(Intent intent, const Scene& scene) {
  const Pos length = shadow.row(intent.row).length;
  const Pos keep = scene.page_ceil(intent.at);
  if (length > keep) {
    intents.push_front(intent);
    return propose_free_from(scene, intent.row, keep);
  }
  const bool inside = intent.at < length && intent.at > scene.page_floor(length - 1);
  const bool alone = inside && shadow.memo(shadow.row(intent.row).pages.back()).holders == 1;
  return alone ? std::optional<Op>(op::Trim{intent.row, intent.at}) : std::nullopt;
}

/// One word alone for a while.
std::optional<Op> Generator::State::from_run(Machine& machine) {
  if (run_left == 0) {
    return std::nullopt;
  }
  --run_left;
  auto op = propose(run_word, scene(machine));
  if (op && acceptable(*op, machine)) {
    return op;
  }
  run_left = 0;
  return std::nullopt;
}

std::optional<Op> Generator::State::from_words(Machine& machine) {
  WordWeights weights = weights_now(machine);
  for (int tries = 0; tries < most_tries; ++tries) {
    const auto word = draw_word(weights);
    if (!word) {
      return std::nullopt;
    }
    auto op = propose(*word, scene(machine));
    if (op) {
      if (auto slot = slot_first(*op, machine); slot && acceptable(*slot, machine)) {
        return slot;
      }
      if (acceptable(*op, machine)) {
        if (swarm.one_op_runs && scene(machine).seldom(16)) {
          run_word = *word;
          run_left = static_cast<std::uint32_t>(choices.between(2, longest_run));
        }
        return op;
      }
    }
    weights[index_of(*word)] = 0;
  }
  return std::nullopt;
}

/// A request that starts takes its slot first, if that is the habit.
std::optional<Op> Generator::State::slot_first(const Op& op, const Machine& machine) const {
  const OpWord word = word_of(op);
  if (!word_lends(word) || word == OpWord::decode || swarm.weights[index_of(OpWord::slot)] == 0) {
    return std::nullopt;
  }
  const Row row = lent_pieces(op, shadow).front().row;
  const RowMemo& memo = shadow.row(row);
  const std::uint64_t habit = geo.ringed() ? std::max<std::uint64_t>(swarm.habits.admit, 12) : swarm.habits.admit;
  if (memo.length > 0 || memo.slot || machine.slots_free() == 0 || !choices.odds(habit, 16)) {
    return std::nullopt;
  }
  return op::SlotTake{row};
}

/// What the phase makes of the swarm's weights.
WordWeights Generator::State::weights_of(Phase when) const {
  WordWeights weights = swarm.weights;
  for (const OpWord word : draw_order) {
    std::uint32_t& weight = weights[index_of(word)];
    if (when == Phase::fill) {
      weight = word_lends(word) ? weight * 4 : word_frees(word) ? weight / 4 : weight;
    } else if (when == Phase::drain) {
      weight = word_lends(word) ? 0 : word_frees(word) ? weight * 3 : weight;
    }
  }
  return weights;
}

WordWeights Generator::State::weights_now(const Machine& machine) const {
  WordWeights weights = phase_weights[static_cast<std::size_t>(phase)];
  if (!machine.built()) {
    WordWeights rebuild{};
    rebuild[index_of(OpWord::build)] = 3 * swarm.weights[index_of(OpWord::build)];
    for (const OpWord word : {OpWord::expect, OpWord::pause, OpWord::resume}) {
      rebuild[index_of(word)] = swarm.weights[index_of(word)];
    }
    return rebuild;
  }
  if (!geo.kv.none() && geo.kv.saver != SaverMode::off && machine.paused(MemoryTag::kv_cache)) {
    weights[index_of(OpWord::write)] = 0;
    weights[index_of(OpWord::read)] = 0;
  }
  if (machine.group_open()) {
    for (const OpWord word :
         {OpWord::backup, OpWord::restore, OpWord::clear, OpWord::resize, OpWord::destroy, OpWord::flush}) {
      weights[index_of(word)] = 0;
    }
    weights[index_of(OpWord::group_end)] *= 1 + group_ops / group_patience;
  }
  if (machine.slots_free() == 0) {
    weights[index_of(OpWord::slot)] /= 4;
  }
  if (exhausted(machine)) {
    for (const OpWord word : {OpWord::alloc, OpWord::extend, OpWord::decode, OpWord::tail}) {
      weights[index_of(word)] = std::min(weights[index_of(word)], (swarm.weights[index_of(word)] + 3) / 4);
    }
  }
  return weights;
}

std::optional<OpWord> Generator::State::draw_word(const WordWeights& weights) const {
  std::uint64_t total = 0;
  for (const std::uint32_t weight : weights) {
    total += weight;
  }
  if (total == 0) {
    return std::nullopt;
  }
  std::uint64_t left = choices.draw(total);
  for (const OpWord word : draw_order) {
    const std::uint32_t weight = weights[index_of(word)];
    if (left < weight) {
      return word;
    }
    left -= weight;
  }
  return std::nullopt;
}

Generator::Generator(const Geometry& geometry, Choices& choices) : state_(std::make_unique<State>(geometry, choices)) {}
Generator::~Generator() = default;
Generator::Generator(Generator&&) noexcept = default;
Generator& Generator::operator=(Generator&&) noexcept = default;

void Generator::forbid(OpWord word) { state_->forbid(word); }

void Generator::restrict_to(std::function<bool(const Op&, const Machine&)> takes) { state_->takes = std::move(takes); }

Op Generator::next(Machine& machine) { return state_->next(machine); }

}  // namespace poolproof
