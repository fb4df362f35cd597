#include "props/course.hpp"

#include <utility>

#include "impl/host/host.hpp"

namespace poolproof {
namespace {

/// Calls and numbers of one exchange: enough to make its fixed cost small, little enough to be read at once.
constexpr std::size_t exchange_size = 2000;

/// With a ring, a load-back names ring rows by the request slot's number, which must have been answered before.
bool needs_earlier_answers(const Op& op, const Geometry& g) {
  return g.ringed() && std::holds_alternative<op::Remap>(op);
}

}  // namespace

std::optional<Verdict> Course::step(const Op& op) {
  std::optional<Verdict> verdict = lockstep_.step(op);
  ++ops_;
  if (!verdict && census_every_ != 0 && ops_ >= census_from_ && ops_ % census_every_ == 0) {
    verdict = lockstep_.census();
  }
  return verdict;
}

Scout::Scout(const Geometry& geometry, Foresight& foresight, std::unique_ptr<Allocator> twin,
             std::uint32_t census_every, std::uint64_t census_from)
    : foresight_(foresight),
      machine_(geometry),
      course_(machine_, foresight.rehearse(std::move(twin)), census_every, census_from) {}

std::optional<Op> Scout::next(const OpSource& source) {
  if (planned_.empty()) {
    plan(source);
  }
  if (planned_.empty()) {
    return std::nullopt;
  }
  Op op = std::move(planned_.front());
  planned_.pop_front();
  return op;
}

void Scout::plan(const OpSource& source) {
  if (!std::exchange(started_, true)) {
    over_ = course_.start().has_value();
  }
  while (!over_ && foresight_.noted() < exchange_size) {
    std::optional<Op> op = held_ ? std::exchange(held_, std::nullopt) : source(machine_);
    if (!op) {
      over_ = true;
      course_.finish();
    } else if (!planned_.empty() && needs_earlier_answers(*op, machine_.geometry())) {
      held_ = std::move(op);
      break;
    } else {
      over_ = !step(*std::move(op));
    }
  }
  foresight_.send();
}

/// False: the run ends with this op, since it breaks the protocol or expects what cannot be.
bool Scout::step(Op op) {
  const bool ends = course_.step(op).has_value();
  planned_.push_back(std::move(op));
  return !ends;
}

OpFeed::OpFeed(Machine& machine, Allocator& allocator, const RunOptions& options, OpSource source)
    : machine_(machine), source_(std::move(source)) {
  Foresight* foresight = allocator.foresight();
  if (foresight == nullptr || options.call_by_call) {
    return;
  }
  if (auto twin = make_host(machine.geometry())) {
    scout_ = std::make_unique<Scout>(machine.geometry(), *foresight, std::move(twin).value(), options.census_every,
                                     options.census_from);
  }
}

void OpFeed::prepare() {
  if (scout_) {
    first_ = scout_->next(source_);
    prepared_ = true;
  }
}

std::optional<Op> OpFeed::next() {
  if (std::exchange(prepared_, false)) {
    return std::exchange(first_, std::nullopt);
  }
  return scout_ ? scout_->next(source_) : source_(machine_);
}

std::deque<Op> OpFeed::planned() const {
  std::deque<Op> ops = scout_ ? scout_->planned() : std::deque<Op>();
  if (prepared_ && first_) {
    ops.push_front(*first_);
  }
  return ops;
}

bool lost_in_exchange(const Verdict& verdict, bool scouted) {
  const auto* breakdown = std::get_if<Breakdown>(&verdict.cause);
  return scouted && breakdown != nullptr && breakdown->kind != BreakdownKind::raised;
}

}  // namespace poolproof
