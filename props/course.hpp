// The course of one run: ops from a source, in lockstep, with the censuses where they belong. Where the implementation
// answers many calls in one exchange, a scout goes ahead with the host twin and says what will be called.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "impl/script.hpp"
#include "props/lockstep.hpp"

namespace poolproof {

/// The next op, seen from where the machine stands, or nothing at the end. Choices may depend on what is determined
/// alone, never on page choices: the machine may be the scout's.
using OpSource = std::function<std::optional<Op>(Machine&)>;

/// Lockstep with a census every so many ops.
class Course {
 public:
  /// No census before `census_from` ops.
  Course(Machine& machine, Allocator& allocator, std::uint32_t census_every, std::uint64_t census_from = 0)
      : lockstep_(machine, allocator), census_every_(census_every), census_from_(census_from) {}

  std::optional<Verdict> start() { return lockstep_.start(); }
  std::optional<Verdict> step(const Op& op);
  std::optional<Verdict> finish() { return lockstep_.census(); }
  [[nodiscard]] std::uint64_t ops() const { return ops_; }
  [[nodiscard]] bool last_refused() const { return lockstep_.last_refused(); }

 private:
  Lockstep lockstep_;
  std::uint32_t census_every_;
  std::uint64_t census_from_;
  std::uint64_t ops_ = 0;
};

/// Goes ahead of a run and foretells its calls.
class Scout {
 public:
  /// `twin` is a fresh host twin of the same geometry.
  Scout(const Geometry& geometry, Foresight& foresight, std::unique_ptr<Allocator> twin, std::uint32_t census_every,
        std::uint64_t census_from);

  /// The next op; when none is planned, plans as many as make an exchange worth its while, and sends their calls.
  std::optional<Op> next(const OpSource& source);
  /// Planned and not yet handed out.
  [[nodiscard]] const std::deque<Op>& planned() const { return planned_; }

 private:
  void plan(const OpSource& source);
  bool step(Op op);

  Foresight& foresight_;
  Machine machine_;
  Course course_;
  std::deque<Op> planned_;
  std::optional<Op> held_;  ///< for the next exchange
  bool started_ = false;
  bool over_ = false;
};

/// The ops of a run, through a scout where there is foresight.
class OpFeed {
 public:
  /// Without a scout where `options.call_by_call` says so, whatever the allocator can do.
  OpFeed(Machine& machine, Allocator& allocator, const RunOptions& options, OpSource source);

  /// Plans the first ops; call it before the run starts.
  void prepare();
  std::optional<Op> next();
  [[nodiscard]] bool scouted() const { return scout_ != nullptr; }
  /// Ops that were foretold and not handed out.
  [[nodiscard]] std::deque<Op> planned() const;

 private:
  Machine& machine_;
  OpSource source_;
  std::unique_ptr<Scout> scout_;
  std::optional<Op> first_;
  bool prepared_ = false;
};

/// Did the implementation break down so that the op cannot be told: somewhere in an exchange of many calls?
bool lost_in_exchange(const Verdict& verdict, bool scouted);

}  // namespace poolproof
