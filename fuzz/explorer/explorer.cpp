#include "fuzz/explorer/explorer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <thread>
#include <utility>

#include "fuzz/explorer/alphabet.hpp"
#include "fuzz/explorer/state_table.hpp"
#include "model/state_digest.hpp"
#include "props/lockstep.hpp"

namespace poolproof {
namespace {

/// States that one worker extends at a time, and those between two merges. The result hangs on neither.
constexpr StateIndex slice_states = 32;
constexpr StateIndex round_states = 4096;
/// Nobody asks for page histories here: the machine keeps as few as it can.
constexpr std::size_t life_events = 1;

std::uint64_t sum_or_most(std::uint64_t a, std::uint64_t b) {
  return a > std::numeric_limits<std::uint64_t>::max() - b ? std::numeric_limits<std::uint64_t>::max() : a + b;
}

/// Machine and implementation in one state.
class Position {
 public:
  Position(const Geometry& geometry, std::unique_ptr<Allocator> allocator)
      : machine_(geometry, life_events), allocator_(std::move(allocator)), lockstep_(machine_, *allocator_) {}
  Position(const Position& other)
      : machine_(other.machine_), allocator_(other.allocator_->clone()), lockstep_(machine_, *allocator_) {}
  Position& operator=(const Position& other) {
    if (this != &other) {
      machine_ = other.machine_;
      if (!allocator_->assign(*other.allocator_)) {
        allocator_ = other.allocator_->clone();
        lockstep_.drive(*allocator_);
      }
    }
    return *this;
  }
  Position(Position&&) = delete;
  Position& operator=(Position&&) = delete;
  ~Position() = default;

  std::optional<Verdict> start() {
    std::optional<Verdict> verdict = lockstep_.start();
    return verdict ? verdict : lockstep_.census();
  }
  /// The caller's fault leaves it as it is.
  std::optional<Verdict> step(const Op& op) {
    std::optional<Verdict> verdict = lockstep_.step(op);
    return verdict ? verdict : lockstep_.census();
  }
  [[nodiscard]] bool last_refused() const { return lockstep_.last_refused(); }
  [[nodiscard]] const Machine& machine() const { return machine_; }
  /// Nothing: the implementation does not show its state.
  [[nodiscard]] std::optional<std::uint64_t> digest(GenerationNames& names) const {
    names.clear();
    machine_.name_generations(names);
    StateDigest digest(names);
    machine_.digest(digest);
    return allocator_->digest(digest) ? std::optional(digest.value()) : std::nullopt;
  }

 private:
  Machine machine_;
  std::unique_ptr<Allocator> allocator_;
  Lockstep lockstep_;
};

/// An op that leads out of the states known before.
struct Candidate {
  std::uint64_t digest = 0;
  StateIndex from = 0;
  MoveIndex move = 0;
};

/// What extending some states came to.
struct Slice {
  StateIndex begin = 0;
  StateIndex end = 0;
  std::vector<Candidate> candidates;
  std::uint64_t transitions = 0;
  std::uint64_t refused = 0;
  std::uint64_t sequences = 0;
  std::optional<Verdict> fault;  ///< the first; the slice ends with it
  StateIndex fault_state = 0;
  MoveIndex fault_move = 0;
  std::string error;
};

/// Walks of shortest sequences to each state of one layer.
struct Layer {
  StateIndex begin = 0;
  StateIndex end = 0;
  std::uint32_t depth = 0;
  std::vector<std::uint64_t> walks;
};

/// Extends states. Several of them work side by side: they read the table and write their slices alone.
class Worker {
 public:
  Worker(const Alphabet& alphabet, const StateTable& table, std::unique_ptr<Position> root)
      : alphabet_(alphabet), table_(table), next_(*root) {
    path_.push_back(std::move(root));
    path_states_.push_back(0);
  }

  void extend(const Layer& layer, Slice& slice) {
    slice.candidates.clear();
    for (StateIndex state = slice.begin; state < slice.end; ++state) {
      if (!stand_at(state, layer.depth, slice.error) || !extend(state, layer, slice)) {
        return;
      }
    }
  }

 private:
  struct Edge {
    std::uint64_t digest;
    MoveIndex move;
  };

  /// Runs the ops that lead to the state, from the last one on that it has in common with the state before.
  bool stand_at(StateIndex state, std::uint32_t depth, std::string& error) {
    if (depth < path_.size() && path_states_[depth] == state) {
      return true;
    }
    if (!stand_at(table_.parent(state), depth - 1, error)) {
      return false;
    }
    if (depth == path_.size()) {
      path_.push_back(std::make_unique<Position>(*path_[depth - 1]));
      path_states_.push_back(no_state);
    } else {
      *path_[depth] = *path_[depth - 1];
    }
    if (const std::optional<Verdict> verdict = path_[depth]->step(alphabet_.op(table_.move(state)))) {
      error = fmt::format("the implementation is not deterministic: an op that held fails when it is run again ({})",
                          verdict->what);
      return false;
    }
    path_states_[depth] = state;
    return true;
  }

  /// Every op that the state takes, once.
  bool extend(StateIndex state, const Layer& layer, Slice& slice) {
    const Position& here = *path_[layer.depth];
    alphabet_.candidates(here.machine(), moves_);
    edges_.clear();
    bool moved = true;
    for (const MoveIndex move : moves_) {
      if (moved) {
        next_ = here;
        moved = false;
      }
      if (std::optional<Verdict> verdict = next_.step(alphabet_.op(move))) {
        if (verdict->caller_fault()) {
          continue;
        }
        ++slice.transitions;
        slice.fault = std::move(verdict);
        slice.fault_state = state;
        slice.fault_move = move;
        return false;
      }
      slice.refused += next_.last_refused() ? 1 : 0;
      const std::optional<std::uint64_t> digest = next_.digest(names_);
      if (!digest) {
        slice.error = "the implementation does not show its state any more";
        return false;
      }
      moved = *digest != table_.digest(state);
      edges_.push_back({*digest, move});
      table_.prefetch(*digest);
    }
    slice.transitions += edges_.size();
    const std::uint64_t walks = layer.walks[state - layer.begin];
    for (const Edge& edge : edges_) {
      slice.sequences = sum_or_most(slice.sequences, walks);
      const StateIndex known = table_.find(edge.digest);
      if (known == no_state || known >= layer.end) {
        slice.candidates.push_back({edge.digest, state, edge.move});
      }
    }
    return true;
  }

  const Alphabet& alphabet_;
  const StateTable& table_;
  std::vector<std::unique_ptr<Position>> path_;  ///< by depth: from the fresh allocator to where it stands
  std::vector<StateIndex> path_states_;
  Position next_;
  GenerationNames names_;
  std::vector<MoveIndex> moves_;
  std::vector<Edge> edges_;
};

class Explorer {
 public:
  Explorer(const Scope& scope, const ImplInfo& impl, const ExploreOptions& options)
      : scope_(scope),
        impl_(impl),
        options_(options),
        alphabet_(scope, impl.offers ? impl.offers(scope.geometry) : OpWords{}) {}

  ExploreResult run() {
    result_.moves = alphabet_.size();
    if (!begin()) {
      return std::move(result_);
    }
    for (;;) {
      if (scope_.depth != 0 && layer_.depth == scope_.depth) {
        return ended(ExploreEnd::depth);
      }
      if (!extend_layer()) {
        return std::move(result_);
      }
      if (layer_.begin == layer_.end) {
        return ended(ExploreEnd::exhausted);
      }
    }
  }

 private:
  bool fail(std::string error) {
    result_.end = ExploreEnd::could_not_run;
    result_.error = std::move(error);
    return false;
  }

  bool begin() {
    if (auto fault = scope_fault(scope_)) {
      return fail(*fault);
    }
    if (alphabet_.too_large()) {
      return fail(
          "the scope has more ops than can be numbered (65536); take fewer rows, positions or words, or batch=1");
    }
    if (alphabet_.size() == 0) {
      return fail("the implementation offers none of the scope's ops");
    }
    if (!impl_.supports(scope_.geometry)) {
      return fail(fmt::format("{} does not support the pool {}", impl_.name, poolproof::to_string(scope_.geometry)));
    }
    std::optional<std::uint64_t> digest;
    for (std::uint32_t i = 0; i < std::max(1U, options_.threads); ++i) {
      auto root = make_root();
      digest = root ? root_digest(*root) : std::nullopt;
      if (!digest) {
        return false;
      }
      workers_.push_back(std::make_unique<Worker>(alphabet_, table_, std::move(root)));
    }
    add_state(*digest, no_state, 0);
    layer_ = {0, 1, 0, {1}};
    result_.layers = {1};
    result_.states = 1;
    result_.digest = digest_;
    return true;
  }

  std::unique_ptr<Position> make_root() {
    auto built = impl_.make(scope_.geometry);
    if (!built) {
      fail(built.error());
      return nullptr;
    }
    if ((*built)->clone() == nullptr) {
      fail(fmt::format("{} cannot be copied, so it cannot be explored", impl_.name));
      return nullptr;
    }
    return std::make_unique<Position>(scope_.geometry, std::move(*built));
  }

  /// Of the fresh allocator; nothing where that fails already.
  std::optional<std::uint64_t> root_digest(Position& root) {
    if (std::optional<Verdict> verdict = root.start()) {
      violated(std::move(*verdict), no_state, 0);
      return std::nullopt;
    }
    GenerationNames names;
    const std::optional<std::uint64_t> digest = root.digest(names);
    if (!digest) {
      fail(fmt::format("{} does not show its state, so it cannot be explored", impl_.name));
    }
    return digest;
  }

  void add_state(std::uint64_t digest, StateIndex parent, MoveIndex move) {
    table_.insert(digest, parent, move);
    digest_ = StateDigest::mixed(digest_ ^ digest);
  }

  ExploreResult ended(ExploreEnd end) {
    result_.end = end;
    result_.bytes = bytes();
    return std::move(result_);
  }

  [[nodiscard]] std::size_t bytes() const {
    return table_.bytes() + (layer_.walks.capacity() + next_walks_.capacity()) * sizeof(std::uint64_t);
  }

  /// False: it ends here.
  bool extend_layer() {
    next_walks_.clear();
    std::uint64_t transitions = 0;
    std::uint64_t refused = 0;
    std::uint64_t sequences = result_.sequences;
    for (StateIndex begin = layer_.begin; begin < layer_.end; begin += std::min(round_states, layer_.end - begin)) {
      report(begin, transitions);
      if (options_.stop && options_.stop()) {
        return ended_early(ExploreEnd::stopped);
      }
      extend_round(begin, begin + std::min(round_states, layer_.end - begin));
      for (const Slice& slice : slices_) {
        if (!slice.error.empty()) {
          return fail(slice.error);
        }
        transitions += slice.transitions;
        refused += slice.refused;
        sequences = sum_or_most(sequences, slice.sequences);
        if (slice.fault) {
          result_.transitions += transitions;
          violated(*slice.fault, slice.fault_state, slice.fault_move);
          return false;
        }
        if (!merge(slice)) {
          return ended_early(ExploreEnd::memory);
        }
      }
    }
    const StateIndex end = layer_.end;
    layer_ = {end, table_.size(), layer_.depth + 1, std::move(next_walks_)};
    next_walks_ = {};
    result_.transitions += transitions;
    result_.refused += refused;
    result_.sequences = sequences;
    result_.sequences_overflow = sequences == std::numeric_limits<std::uint64_t>::max();
    result_.states = table_.size();
    result_.digest = digest_;
    result_.depth = layer_.depth;
    if (layer_.begin < layer_.end) {
      result_.layers.push_back(layer_.end - layer_.begin);
    }
    return true;
  }

  /// What is known of the depth that was not completed is left out.
  bool ended_early(ExploreEnd end) {
    result_.end = end;
    result_.bytes = bytes();
    return false;
  }

  void extend_round(StateIndex begin, StateIndex end) {
    slices_.resize((end - begin + slice_states - 1) / slice_states);
    for (std::size_t i = 0; i < slices_.size(); ++i) {
      Slice fresh;
      fresh.candidates = std::move(slices_[i].candidates);
      fresh.begin = begin + static_cast<StateIndex>(i) * slice_states;
      fresh.end = std::min(end, fresh.begin + slice_states);
      slices_[i] = std::move(fresh);
    }
    std::atomic<std::size_t> taken = 0;
    const auto work = [&](Worker& worker) {
      for (std::size_t i = taken++; i < slices_.size(); i = taken++) {
        worker.extend(layer_, slices_[i]);
      }
    };
    std::vector<std::thread> others;
    for (std::size_t i = 1; i < std::min(workers_.size(), slices_.size()); ++i) {
      others.emplace_back(work, std::ref(*workers_[i]));
    }
    work(*workers_[0]);
    for (std::thread& other : others) {
      other.join();
    }
  }

  /// False: there is no more room.
  bool merge(const Slice& slice) {
    for (const Candidate& candidate : slice.candidates) {
      const std::uint64_t walks = layer_.walks[candidate.from - layer_.begin];
      const StateIndex known = table_.find(candidate.digest);
      if (known != no_state) {
        std::uint64_t& sum = next_walks_[known - layer_.end];
        sum = sum_or_most(sum, walks);
        continue;
      }
      if (full()) {
        return false;
      }
      add_state(candidate.digest, candidate.from, candidate.move);
      next_walks_.push_back(walks);
    }
    return true;
  }

  [[nodiscard]] bool full() const {
    return table_.size() == no_state - 1 || (options_.most_states != 0 && table_.size() >= options_.most_states) ||
           bytes() + table_.growth_bytes() > options_.memory_bytes;
  }

  void report(StateIndex at, std::uint64_t transitions) const {
    if (options_.progress) {
      options_.progress({layer_.depth + 1, at - layer_.begin, layer_.end - layer_.begin, table_.size(),
                         result_.transitions + transitions, bytes()});
    }
  }

  void violated(Verdict verdict, StateIndex state, MoveIndex move) {
    result_.end =
        std::holds_alternative<ImplementationFailure>(verdict.cause) ? ExploreEnd::could_not_run : ExploreEnd::violated;
    result_.error = result_.end == ExploreEnd::could_not_run ? verdict.what : std::string{};
    result_.trace.geometry = scope_.geometry;
    result_.verdict = std::move(verdict);
    if (state == no_state) {
      return;
    }
    result_.trace.ops.push_back(alphabet_.op(move));
    for (; state != 0; state = table_.parent(state)) {
      result_.trace.ops.push_back(alphabet_.op(table_.move(state)));
    }
    std::reverse(result_.trace.ops.begin(), result_.trace.ops.end());
  }

  const Scope& scope_;
  const ImplInfo& impl_;
  const ExploreOptions& options_;
  Alphabet alphabet_;
  StateTable table_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Slice> slices_;
  Layer layer_;
  std::vector<std::uint64_t> next_walks_;
  std::uint64_t digest_ = 0;
  ExploreResult result_;
};

}  // namespace

ExploreResult explore(const Scope& scope, const ImplInfo& impl, const ExploreOptions& options) {
  return Explorer(scope, impl, options).run();
}

}  // namespace poolproof
