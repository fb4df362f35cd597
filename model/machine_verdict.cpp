// How the machine words its verdicts. Runs on the failure path alone.
#include <fmt/format.h>

#include "model/machine_state.hpp"

namespace poolproof {
namespace {

std::string event_text(const LedgerEntry& entry) {
  const std::string_view peer_pool = entry.pool == Pool::full ? "S" : "F";
  const std::string by = fmt::format("at op {} by {}", entry.op, op_word_name(entry.word));
  switch (entry.event) {
    case LifeEvent::lent:
      return fmt::format("lent {} to r{}, as its page {}", by, entry.row, entry.detail);
    case LifeEvent::peered:
      return fmt::format("peer of {}:{} from op {} on", peer_pool, entry.detail, entry.op);
    case LifeEvent::shared:
      return fmt::format("shared {} with r{}", by, entry.row);
    case LifeEvent::dropped:
      return fmt::format("let go {} by r{}", by, entry.row);
    case LifeEvent::peer_freed:
      return fmt::format("its SWA peers given back {}", by);
    case LifeEvent::remapped:
      return fmt::format("took over peers in S:{} {}", entry.detail, by);
    case LifeEvent::peer_moved:
      return fmt::format("its peers moved to F:{} {}", entry.detail, by);
    case LifeEvent::deferred:
      return fmt::format("given back {} of r{}, deferred by the open group", by, entry.row);
    case LifeEvent::returned:
      return fmt::format("returned {}", by);
  }
  return {};
}

}  // namespace

Verdict Machine::State::verdict(Cause cause, OpIndex other, std::string what, std::string expected,
                                std::string seen) const {
  return {cause, op(), other, std::move(what), std::move(expected), std::move(seen), {}};
}

std::string Machine::State::page_name(Pool which, Page number) const {
  return fmt::format("{}:{}", which == Pool::full ? "F" : "S", number);
}

std::string Machine::State::loc_name(Pool which, Loc loc) const {
  if (loc < 0 || geo.page == 1) {
    return fmt::format("{}:{}", which == Pool::full ? "F" : "S", loc);
  }
  return fmt::format("{}:{}.{}", which == Pool::full ? "F" : "S", loc >> shift, offset_of(loc));
}

void Machine::State::add_history(Verdict& verdict, Pool which, Page number) const {
  const bool known = std::any_of(verdict.histories.begin(), verdict.histories.end(),
                                 [&](const PageHistory& h) { return h.pool == which && h.page == number; });
  if (known || verdict.histories.size() >= 8) {
    return;
  }
  PageHistory history{which, number, {}};
  if (ledger.truncated()) {
    history.events.emplace_back("(what happened earlier is no longer in the ledger)");
  }
  for (const LedgerEntry& entry : ledger.life_of(which, number)) {
    history.events.push_back(event_text(entry));
  }
  if (history.events.empty()) {
    history.events.emplace_back(number == 0 ? "page 0 is padding" : "never lent");
  }
  verdict.histories.push_back(std::move(history));
}

}  // namespace poolproof
