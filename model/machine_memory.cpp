// Both sides of the memory behind the pools: pause, resume, build, destroy, flush (docs/saver.md).
//
// An implementation shows its buffers before and after a call. What is checked is what happened between the two, so no
// figure has to be predicted but the sizes that the geometry determines.
#include <fmt/format.h>

#include "model/machine_state.hpp"

namespace poolproof {

using Fault = std::optional<Verdict>;

namespace {

std::size_t at(MemoryTag tag) { return static_cast<std::size_t>(tag); }

/// "2097152 bytes".
std::string bytes_text(std::int64_t bytes) { return fmt::format("{} bytes", bytes); }

std::string state_text(const BufferReport* buffer) {
  if (buffer == nullptr) {
    return "not there";
  }
  return fmt::format("{} bytes, {}", buffer->bytes, buffer->paused ? "paused" : "resident");
}

/// What became of a buffer that should not have been touched.
std::string_view change_text(const BufferReport* was, const BufferReport* is) {
  if (was == nullptr || is == nullptr) {
    return was == nullptr ? "it came into being" : "it is gone";
  }
  if (was->paused != is->paused) {
    return is->paused ? "it was paused" : "it was resumed";
  }
  if (was->address != is->address) {
    return "it moved";
  }
  return was->bytes != is->bytes                     ? "its size changed"
         : was->resident_bytes != is->resident_bytes ? "its resident bytes changed"
                                                     : "its content changed";
}

/// The planned buffers that a pause or resume reaches, or those that it must leave alone.
template <typename Each>
Fault each_buffer(const std::vector<BufferPlan>& plan, MemoryTag named, bool reached, const Each& check) {
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (names_tag(named, plan[i].tag()) == reached) {
      if (Fault fault = check(plan[i], i)) {
        return fault;
      }
    }
  }
  return {};
}

std::int64_t planned_bytes(const std::vector<BufferPlan>& plan, MemoryTag tag, std::int64_t granule_bytes) {
  std::int64_t total = 0;
  for (const BufferPlan& buffer : plan) {
    total += names_tag(tag, buffer.tag()) ? whole_granules(buffer.bytes(), granule_bytes) : 0;
  }
  return total;
}

/// Checks of one op on memory: what the reports before and after it say, given what the machine knows.
class MemoryCheck {
 public:
  MemoryCheck(const MemoryState& memory, const Observation& seen, OpIndex op)
      : memory_(memory), before_(*seen.before), after_(*seen.after), op_(op) {}

  /// Buffers of other tags are as they were.
  [[nodiscard]] Fault others(MemoryTag named) const {
    return each_buffer(memory_.plan, named, false, [&](const BufferPlan& plan, std::size_t /*i*/) -> Fault {
      const BufferReport* was = before_.find(plan.name());
      const BufferReport* is = after_.find(plan.name());
      const bool absent = !memory_.built && plan.tag() == MemoryTag::kv_cache && was == nullptr && is == nullptr;
      if (absent || (was != nullptr && is != nullptr && *was == *is)) {
        return {};
      }
      return fault(
          Invariant::saver_tagged,
          fmt::format("{} is under tag '{}', and {}", plan.name(), memory_tag_name(plan.tag()), change_text(was, is)),
          state_text(was), state_text(is));
    });
  }

  /// Every buffer of the tag is paused at its address, and gave its memory back.
  [[nodiscard]] Fault paused(MemoryTag named) const {
    return each_buffer(memory_.plan, named, true, [&](const BufferPlan& plan, std::size_t /*i*/) -> Fault {
      const BufferReport* buffer = after_.find(plan.name());
      if (buffer == nullptr || !buffer->paused) {
        return fault(Invariant::saver_frees, fmt::format("{} is not paused", plan.name()), "paused",
                     state_text(buffer));
      }
      if (buffer->resident_bytes.value_or(0) != 0) {
        return fault(Invariant::saver_frees, fmt::format("{} is paused and its memory was not given back", plan.name()),
                     "0 bytes resident", bytes_text(*buffer->resident_bytes));
      }
      return same_place(plan);
    });
  }

  /// Every buffer of the tag is there again: same address, same size, zero or what was backed up.
  [[nodiscard]] Fault resumed(MemoryTag named, bool backed_up) const {
    return each_buffer(memory_.plan, named, true, [&](const BufferPlan& plan, std::size_t i) -> Fault {
      const BufferReport* buffer = after_.find(plan.name());
      if (buffer == nullptr || buffer->paused) {
        return fault(Invariant::saver_stable, fmt::format("{} was not resumed", plan.name()), "resident",
                     state_text(buffer));
      }
      if (Fault moved = same_place(plan)) {
        return moved;
      }
      if (backed_up || plan.tag() == MemoryTag::weights) {
        return buffer->digest == memory_.digests[i]
                   ? Fault{}
                   : fault(Invariant::saver_zero, fmt::format("{} did not come back as it was backed up", plan.name()),
                           "what was backed up", buffer->zero ? "zero throughout" : "other content");
      }
      return buffer->zero
                 ? Fault{}
                 : fault(Invariant::saver_zero, fmt::format("{} does not read zero after the resume", plan.name()),
                         "zero throughout", "content from before the pause, or somebody else's");
    });
  }

  /// The device's count moved by whole granules of every buffer of the tag, `sign` -1: back.
  [[nodiscard]] Fault counted(MemoryTag named, int sign, const char* what) const {
    const std::int64_t want = planned_bytes(memory_.plan, named, after_.granule_bytes) * sign;
    return moved(want, what);
  }
  [[nodiscard]] Fault moved(std::int64_t want, const char* what) const {
    const std::int64_t seen = after_.used_bytes - before_.used_bytes;
    if (want == seen) {
      return {};
    }
    return fault(Invariant::saver_frees, what, fmt::format("{:+} bytes used", want),
                 fmt::format("{:+} bytes used", seen));
  }

  /// A call that must change nothing did change nothing.
  [[nodiscard]] Fault unchanged(Invariant invariant, const char* what) const {
    for (const BufferPlan& plan : memory_.plan) {
      const BufferReport* was = before_.find(plan.name());
      const BufferReport* is = after_.find(plan.name());
      const bool same = (was == nullptr) == (is == nullptr) && (was == nullptr || *was == *is);
      if (!same) {
        return fault(invariant, fmt::format("{}, and {} is not as it was: {}", what, plan.name(), change_text(was, is)),
                     state_text(was), state_text(is));
      }
    }
    if (before_.used_bytes != after_.used_bytes) {
      return fault(invariant, fmt::format("{}, and the device's count changed", what), bytes_text(before_.used_bytes),
                   bytes_text(after_.used_bytes));
    }
    return {};
  }

  /// Every planned buffer is there in its planned size, or none of the pools' is.
  [[nodiscard]] Fault there(bool built) const {
    for (const BufferPlan& plan : memory_.plan) {
      const BufferReport* buffer = after_.find(plan.name());
      if (!built && plan.tag() == MemoryTag::kv_cache) {
        if (buffer != nullptr) {
          return fault(Invariant::saver_frees, fmt::format("{} is still there after destroy", plan.name()), "not there",
                       state_text(buffer));
        }
        continue;
      }
      if (buffer == nullptr || buffer->bytes != plan.bytes()) {
        return fault(Invariant::saver_stable, fmt::format("{} is not of its planned size", plan.name()),
                     bytes_text(plan.bytes()), state_text(buffer));
      }
    }
    return {};
  }

  [[nodiscard]] Fault fault(Invariant invariant, std::string what, std::string expected, std::string seen) const {
    return Verdict{invariant, op_, 0, std::move(what), std::move(expected), std::move(seen), {}};
  }

  /// Every buffer of the tag was allocated in the tag's region. The first broken link, where one was not.
  [[nodiscard]] Fault in_region(MemoryTag named) const {
    std::int64_t outside = 0;
    std::int64_t bytes = 0;
    std::string first;
    std::string region;
    std::string seen;
    for (const BufferPlan& plan : memory_.plan) {
      const BufferReport* buffer = before_.find(plan.name());
      if (!names_tag(named, plan.tag()) || buffer == nullptr || buffer->tag == memory_tag_name(plan.tag())) {
        continue;
      }
      if (outside == 0) {
        first = plan.name();
        region = memory_tag_name(plan.tag());
        seen = buffer->tag.empty() ? "in no region" : fmt::format("in the region of '{}'", buffer->tag);
      }
      ++outside;
      bytes += plan.bytes();
    }
    if (outside == 0) {
      return {};
    }
    const std::string others =
        outside == 1 ? "" : fmt::format(" and {} other buffer{}", outside - 1, outside == 2 ? "" : "s");
    return fault(
        Invariant::saver_frees,
        fmt::format("{}{} {} built outside of {} region and stay{} resident ({} bytes)", first, others,
                    outside == 1 ? "was" : "were", outside == 1 ? "its" : "their", outside == 1 ? "s" : "", bytes),
        fmt::format("in the region of '{}'", region), seen);
  }

 private:
  [[nodiscard]] Fault same_place(const BufferPlan& plan) const {
    const BufferReport* was = before_.find(plan.name());
    const BufferReport* is = after_.find(plan.name());
    if (was == nullptr || is == nullptr || (was->address == is->address && is->bytes == plan.bytes())) {
      return {};
    }
    // Addresses differ from run to run, and a report must not.
    if (was->address != is->address) {
      return fault(Invariant::saver_stable, fmt::format("{} moved", plan.name()), "at the address that it was built at",
                   "at another address");
    }
    return fault(Invariant::saver_stable, fmt::format("{} changed its size", plan.name()), bytes_text(plan.bytes()),
                 bytes_text(is->bytes));
  }

  const MemoryState& memory_;
  const MemoryReport& before_;
  const MemoryReport& after_;
  OpIndex op_;
};

template <typename... Checks>
Fault first_of(const Checks&... checks) {
  Fault found;
  (void)((found = checks(), found.has_value()) || ...);
  return found;
}

}  // namespace

// ---- the caller's side

bool Machine::State::tag_is(MemoryTag named, bool paused) const {
  return std::all_of(memory.plan.begin(), memory.plan.end(), [&](const BufferPlan& buffer) {
    const MemoryTag tag = buffer.tag();
    const bool there = tag != MemoryTag::kv_cache || memory.built;
    return !there || !names_tag(named, tag) || memory.paused.at(at(tag)) == paused;
  });
}

namespace {

/// What can be asked between destroy and build: the weights are there.
bool needs_no_pools(const Op& op) {
  if (const auto* pause = std::get_if<op::Pause>(&op)) {
    return pause->tag == MemoryTag::weights;
  }
  if (const auto* resume = std::get_if<op::Resume>(&op)) {
    return resume->tag == MemoryTag::weights;
  }
  return std::holds_alternative<op::Build>(op) || std::holds_alternative<op::Expect>(op);
}

}  // namespace

/// Nothing is asked of pools that are not there.
Fault Machine::State::admit_built(const Op& op) const {
  if (memory.built || needs_no_pools(op)) {
    return {};
  }
  return verdict(Rule::c11, memory.built_op, fmt::format("{} between destroy and build", op_word_name(word_of(op))));
}

Fault Machine::State::admit_memory(const char* doing) const {
  if (!memory.paused.at(at(MemoryTag::kv_cache))) {
    return {};
  }
  return verdict(Rule::c11, memory.paused_op.at(at(MemoryTag::kv_cache)),
                 fmt::format("{} while kv_cache is paused", doing));
}

Fault Machine::State::admit(const op::Pause& op, Plan& plan) {
  plan.fits = geo.kv.saver == SaverMode::off || tag_is(op.tag, false);
  return {};
}

Fault Machine::State::admit(const op::Resume& op, Plan& plan) {
  plan.fits = geo.kv.saver == SaverMode::off || tag_is(op.tag, true);
  return {};
}

Fault Machine::State::admit(const op::Destroy&, Plan&) { return admit_no_group("destroy"); }
Fault Machine::State::admit(const op::Flush&, Plan&) { return admit_no_group("flush"); }

Fault Machine::State::admit(const op::Build&, Plan&) {
  if (memory.built) {
    return verdict(Rule::c11, memory.built_op, "build, and the pools are there");
  }
  return {};
}

// ---- the implementation's side

/// Slots whose KV is there now are lost; what they held before stays lost only for the same lending.
void Machine::State::lose_kv(PoolState& p) const {
  const auto slots = static_cast<std::size_t>(page());
  if (p.lost_before == 0) {
    p.lost.assign(p.pages.size() * slots);
    p.lost_op.assign(p.pages.size(), 0);
  }
  for (std::size_t number = 0; number < p.pages.size(); ++number) {
    const PageRecord& record = p.pages[number];
    const std::size_t first = number * slots;
    if (record.generation > p.lost_before) {
      p.lost.clear(first, slots);
    }
    for (std::size_t slot = first; slot < first + slots; ++slot) {
      if (holds_kv(p, record, static_cast<Loc>(slot))) {
        p.lost.set(slot);
        p.lost_op[number] = op();
      }
    }
  }
  p.lost_before = std::max<std::uint32_t>(generations, 1);
  p.written.assign(p.pages.size() * slots);
}

void Machine::State::lose_all_kv() {
  lose_kv(full);
  lose_kv(swa);
  for (RingCell& cell : ring) {
    cell.lost_op = cell.lost_op == 0 ? op() : cell.lost_op;
  }
}

namespace {

bool shown(const Observation& seen) { return seen.before != nullptr && seen.after != nullptr; }

}  // namespace

/// With the saver off, or out of turn: nothing moves.
Fault Machine::State::check_still(const Observation& seen, const char* refused) const {
  if (!shown(seen)) {
    return {};
  }
  const MemoryCheck check(memory, seen, op());
  return geo.kv.saver == SaverMode::off ? check.unchanged(Invariant::saver_off, "the saver is off")
                                        : check.unchanged(Invariant::all_or_nothing, refused);
}

Fault Machine::State::check_pause(MemoryTag tag, const Observation& seen) const {
  if (Fault idle = check_in_use(*seen.before)) {
    return idle;
  }
  const MemoryCheck check(memory, seen, op());
  return first_of([&] { return check.others(tag); }, [&] { return check.paused(tag); },
                  [&] { return check.counted(tag, -1, "pause did not give all memory of the tag back"); });
}

Fault Machine::State::observe(const op::Pause& op, const Plan& plan, const Observation& seen) {
  const bool off = geo.kv.saver == SaverMode::off;
  Fault wrong = shown(seen) && !off ? MemoryCheck(memory, seen, this->op()).in_region(op.tag) : Fault{};
  wrong = wrong ? wrong : turn_fault(plan, seen, "pause", "paused");
  if (wrong) {
    return wrong;
  }
  if (off || !plan.fits) {
    return check_still(seen, "a refused pause");
  }
  if (shown(seen)) {
    if (Fault failed = check_pause(op.tag, seen)) {
      return failed;
    }
    keep_digests(op.tag, *seen.before);
  }
  set_paused(op.tag, true);
  if (names_tag(op.tag, MemoryTag::kv_cache) && geo.kv.saver == SaverMode::on) {
    lose_all_kv();
  }
  return {};
}

Fault Machine::State::observe(const op::Resume& op, const Plan& plan, const Observation& seen) {
  const bool off = geo.kv.saver == SaverMode::off;
  if (Fault wrong = turn_fault(plan, seen, "resume", "not paused")) {
    const Fault outside = shown(seen) && !off ? MemoryCheck(memory, seen, this->op()).in_region(op.tag) : Fault{};
    return outside ? outside : wrong;
  }
  if (off || !plan.fits) {
    return check_still(seen, "a refused resume");
  }
  set_paused(op.tag, false);
  if (!shown(seen)) {
    return {};
  }
  const MemoryCheck check(memory, seen, this->op());
  return first_of([&] { return check.others(op.tag); },
                  [&] { return check.resumed(op.tag, geo.kv.saver == SaverMode::backup); },
                  [&] { return check.counted(op.tag, +1, "resume did not take the memory of the tag again"); });
}

/// Served when it is its turn, else refused.
Fault Machine::State::turn_fault(const Plan& plan, const Observation& seen, const char* word, const char* state) const {
  const bool served = seen.answer == Answer::served;
  if (served == plan.fits) {
    return {};
  }
  if (served) {
    return verdict(Invariant::saver_stable, 0,
                   fmt::format("{} was served, and some of the memory is {} already", word, state), "refused",
                   "served");
  }
  if (geo.kv.saver == SaverMode::off) {
    return verdict(Invariant::saver_off, 0, fmt::format("the saver is off, and {} was refused", word), "served",
                   "refused");
  }
  return verdict(Invariant::served_when_fits, 0,
                 fmt::format("none of the memory is {}, and {} was refused", state, word), "served", "refused");
}

void Machine::State::set_paused(MemoryTag named, bool paused) {
  for (const MemoryTag tag : {MemoryTag::kv_cache, MemoryTag::weights}) {
    if (names_tag(named, tag)) {
      memory.paused.at(at(tag)) = paused;
      memory.paused_op.at(at(tag)) = op();
    }
  }
}

void Machine::State::keep_digests(MemoryTag named, const MemoryReport& before) {
  memory.digests.resize(memory.plan.size());
  for (std::size_t i = 0; i < memory.plan.size(); ++i) {
    const BufferReport* buffer = before.find(memory.plan[i].name());
    if (buffer != nullptr && names_tag(named, memory.plan[i].tag())) {
      memory.digests[i] = buffer->digest;
    }
  }
}

/// What was written must be in the buffers that are shown: else a pause works on memory that nobody uses.
Fault Machine::State::check_in_use(const MemoryReport& before) const {
  const auto holds = [this](const PoolState& p) {
    const auto slots = static_cast<std::size_t>(page());
    for (std::size_t number = 1; number < p.pages.size(); ++number) {
      const PageRecord& record = p.pages[number];
      if (record.stored != 0 && record.stored == record.generation && p.written.any(number * slots, slots)) {
        return true;
      }
    }
    return false;
  };
  const bool full_written = holds(full);
  const bool swa_written = geo.paired() && holds(swa);
  for (const BufferPlan& plan : memory.plan) {
    const BufferReport* buffer = before.find(plan.name());
    const bool written = plan.part != BufferPart::weights && (plan.pool == Pool::full ? full_written : swa_written);
    if (written && buffer != nullptr && !buffer->paused && buffer->zero) {
      return verdict(
          Invariant::kv_intact, 0,
          fmt::format("KV was written, and {} reads zero throughout: it is not the memory in use", plan.name()),
          "what was written", "zero");
    }
  }
  return {};
}

Fault Machine::State::observe(const op::Destroy&, const Plan&, const Observation& seen) {
  const bool was_paused = memory.paused.at(at(MemoryTag::kv_cache));
  start_afresh();
  memory.built = false;
  memory.built_op = this->op();
  memory.paused.at(at(MemoryTag::kv_cache)) = false;
  if (!shown(seen)) {
    return {};
  }
  const MemoryCheck check(memory, seen, this->op());
  Fault wrong = first_of([&] { return check.others(MemoryTag::kv_cache); }, [&] { return check.there(false); });
  if (!wrong && geo.kv.saver != SaverMode::off) {
    const char* what = "destroy did not give all memory of the pools back";
    wrong = was_paused ? check.moved(0, what) : check.counted(MemoryTag::kv_cache, -1, what);
  }
  return wrong;
}

Fault Machine::State::observe(const op::Build&, const Plan&, const Observation& seen) {
  start_afresh();
  memory.built = true;
  memory.built_op = this->op();
  if (!shown(seen)) {
    return {};
  }
  const MemoryCheck check(memory, seen, this->op());
  Fault wrong = first_of([&] { return check.others(MemoryTag::kv_cache); }, [&] { return check.there(true); });
  if (!wrong && geo.kv.saver != SaverMode::off) {
    wrong = check.counted(MemoryTag::kv_cache, +1, "build did not take the memory of the pools");
  }
  return wrong;
}

Fault Machine::State::observe(const op::Flush&, const Plan&, const Observation&) {
  start_afresh();
  return {};
}

std::optional<Verdict> Machine::begin_memory(const MemoryReport& fresh) {
  Observation seen;
  seen.before = &fresh;
  seen.after = &fresh;
  return MemoryCheck(state_->memory, seen, 0).there(true);
}

}  // namespace poolproof
