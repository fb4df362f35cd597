#include "fuzz/input/ops_runner.hpp"

#include <algorithm>
#include <utility>

#include "fuzz/input/byte_choices.hpp"
#include "fuzz/input/op_records.hpp"
#include "props/generator.hpp"
#include "props/swarm.hpp"

namespace poolproof {
namespace {

constexpr std::size_t census_every = 16;
/// The generator costs more than the ops it makes: its traces are short ones.
constexpr std::size_t most_choice_bytes = 96;

/// What can be told at a glance, before an op is tried: in bytes at random hardly anything is right, and a caller's
/// fault is told in words, which take their time. A lending op can only go on from its rows' ends; a range ends with
/// its row. False: no part of the op can stand.
class Aim {
 public:
  explicit Aim(const Machine& machine) : machine_(machine), most_(machine.full_size() + machine.geometry().page) {}

  bool operator()(op::SlotTake& op) const { return !machine_.row_has_slot(op.row); }
  bool operator()(op::SlotGive& op) const { return machine_.row_has_slot(op.row); }
  bool operator()(op::Alloc& op) const { return to_end(op.row, op.range); }
  bool operator()(op::Extend& op) const {
    for (Piece& piece : op.pieces) {
      to_end(piece.row, piece.range);
    }
    return true;
  }
  bool operator()(op::Decode& op) const { return machine_.row_length(op.rows.front()) > 0; }
  bool operator()(op::Tail& op) const {
    const Pos ahead = op.swa.begin - op.range.begin;
    const Pos behind = op.range.end - op.swa.end;
    to_end(op.row, op.range);
    op.swa = {op.range.begin + ahead, op.range.end - behind};
    return true;
  }
  bool operator()(op::Free& op) const {
    std::erase_if(op.pieces, [&](Piece& piece) { return !inside(piece.row, piece.range); });
    return !op.pieces.empty();
  }
  bool operator()(op::FreeSegment& op) const {
    std::erase_if(op.ranges, [&](Range& range) { return !inside(op.row, range); });
    return !op.ranges.empty();
  }
  bool operator()(op::Copy& op) const { return op.to != op.from && inside(op.from, op.range); }
  bool operator()(op::Drop& op) const { return inside(op.row, op.range); }
  bool operator()(op::Trim& op) const { return op.length > 0 && op.length < machine_.row_length(op.row); }
  bool operator()(op::Remap& op) const { return inside(op.to, op.range) && machine_.row_length(op.from) > 0; }
  bool operator()(op::Unmap& op) const { return inside(op.row, op.range); }
  bool operator()(op::Write& op) const { return inside(op.row, op.range); }
  bool operator()(op::Read& op) const { return inside(op.row, op.range); }
  bool operator()(op::GroupBegin& op) const { return machine_.group_open() == op.again; }
  bool operator()(op::GroupEnd& op) const { return machine_.group_open() != op.again; }
  bool operator()(op::Restore& op) const { return machine_.has_backup(op.name); }
  template <typename Other>
  bool operator()(Other&) const {
    return true;
  }

 private:
  /// There is no use in asking for far more than the pool has.
  bool to_end(Row row, Range& range) const {
    const Pos begin = machine_.row_length(row);
    range = {begin, begin + std::min(range.size(), most_)};
    return true;
  }
  /// A range behind the row's end is one that begins somewhere in the row.
  bool inside(Row row, Range& range) const {
    const Pos length = machine_.row_length(row);
    if (length == 0) {
      return false;
    }
    const Pos begin = range.begin % length;
    range = {begin, std::min(begin + range.size(), length)};
    return range.begin < range.end;
  }

  const Machine& machine_;
  Tokens most_;
};

/// A missing header is one of zeros.
std::uint8_t variant_of(std::span<const std::uint8_t> input) {
  return input.size() < ops_header_bytes ? std::uint8_t{0} : static_cast<std::uint8_t>(input[1] % pool_variants);
}

}  // namespace

std::optional<std::vector<std::uint8_t>> input_of_trace(const Trace& trace) {
  const std::optional<std::uint8_t> number = nearest_variant(trace.geometry);
  if (!number || !trace.geometry.kv.none()) {
    return std::nullopt;
  }
  std::vector<std::uint8_t> bytes{0, *number};
  for (const Op& op : trace.ops) {
    append_op(op, trace.geometry, bytes);
  }
  bytes.resize(std::min(bytes.size(), most_ops_bytes));
  return bytes;
}

/// One execution.
class OpsRunner::Run {
 public:
  Run(OpsRunner& runner, Allocator& allocator, const Sink& reached, std::vector<Op>* executed)
      : machine_(runner.machine_),
        features_(runner.features_),
        lockstep_(runner.machine_, allocator),
        reached_(reached),
        executed_(executed) {}

  std::optional<Verdict> records(std::span<const std::uint8_t> bytes);
  std::optional<Verdict> choices(std::span<const std::uint8_t> bytes, const ImplInfo& impl);

 private:
  std::optional<Verdict> record(Op op);
  std::optional<Verdict> step(const Op& op);

  Machine& machine_;
  StateFeatures& features_;
  Lockstep lockstep_;
  const Sink& reached_;
  std::vector<Op>* executed_;
  std::size_t ops_ = 0;
};

std::optional<Verdict> OpsRunner::Run::records(std::span<const std::uint8_t> bytes) {
  std::optional<Verdict> verdict = lockstep_.start();
  while (!verdict && ops_ < most_input_ops) {
    std::optional<Op> op = take_op(bytes, machine_.geometry());
    if (!op) {
      return lockstep_.census();
    }
    if (word_offered(word_of(*op), machine_.geometry())) {
      verdict = record(*std::move(op));
    }
  }
  return verdict ? verdict : lockstep_.census();
}

/// As it stands, else mended, else not at all.
std::optional<Verdict> OpsRunner::Run::record(Op op) {
  if (!std::visit(Aim(machine_), op)) {
    return std::nullopt;
  }
  if (!op_fault(op, machine_.geometry())) {
    std::optional<Verdict> verdict = step(op);
    if (!verdict || !verdict->caller_fault()) {
      return verdict;
    }
  }
  const std::optional<Op> mended = repair_op(op, machine_);
  return mended ? step(*mended) : std::nullopt;
}

std::optional<Verdict> OpsRunner::Run::choices(std::span<const std::uint8_t> bytes, const ImplInfo& impl) {
  ByteChoices choices(bytes.first(std::min(bytes.size(), most_choice_bytes)));
  Generator generator(machine_.geometry(), choices);
  generator.restrict_to(impl.takes);
  std::optional<Verdict> verdict = lockstep_.start();
  while (!verdict && ops_ < most_input_ops && !choices.exhausted()) {
    verdict = step(generator.next(machine_));
  }
  return verdict ? verdict : lockstep_.census();
}

std::optional<Verdict> OpsRunner::Run::step(const Op& op) {
  std::optional<Verdict> verdict = lockstep_.step(op);
  if (verdict && verdict->caller_fault()) {
    return verdict;
  }
  if (executed_ != nullptr) {
    executed_->push_back(op);
  }
  if (!verdict) {
    reached_(features_.after(op, machine_, lockstep_.last_refused()));
    verdict = ++ops_ % census_every == 0 ? lockstep_.census() : std::nullopt;
  }
  return verdict;
}

std::unique_ptr<Allocator> OpsRunner::fresh(std::uint8_t number, const Geometry& geometry) {
  std::unique_ptr<Allocator>& built = built_.at(number);
  if (built == nullptr) {
    auto made = impl_.supports(geometry) ? impl_.make(geometry) : std::string();
    if (!made) {
      return nullptr;
    }
    built = std::move(*made);
  }
  return built->clone();
}

std::optional<Verdict> OpsRunner::run(std::span<const std::uint8_t> input, const Sink& reached) {
  return run(input, reached, nullptr);
}

std::optional<Verdict> OpsRunner::run(std::span<const std::uint8_t> input, const Sink& reached,
                                      std::vector<Op>* executed) {
  const std::uint8_t number = variant_of(input);
  const Geometry geometry = pool_variant(kind_, number);
  const std::unique_ptr<Allocator> allocator = fresh(number, geometry);
  if (allocator == nullptr) {
    return std::nullopt;
  }
  machine_.reset(geometry);
  features_.begin(machine_);
  Run run(*this, *allocator, reached, executed);
  const auto body = input.subspan(std::min(input.size(), ops_header_bytes));
  const InputForm form = input.empty() ? InputForm::records : input_form(input[0]);
  return form == InputForm::records ? run.records(body) : run.choices(body, impl_);
}

Trace OpsRunner::trace_of(std::span<const std::uint8_t> input) {
  Trace trace;
  run(
      input, [](const StateFeatures::Reached&) {}, &trace.ops);
  trace.geometry = pool_variant(kind_, variant_of(input));
  return trace;
}

}  // namespace poolproof
