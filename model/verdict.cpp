#include "model/verdict.hpp"

namespace poolproof {
namespace {

struct CauseText {
  std::string_view id;
  std::string_view statement;
  std::string_view blame;
};

CauseText text_of_breakdown(BreakdownKind kind) {
  switch (kind) {
    case BreakdownKind::raised:
      return {"RAISED", "no call of a correct caller ends in an error of the implementation's own", "the allocator"};
    case BreakdownKind::died:
      return {"DIED", "no call of a correct caller ends the implementation's process", "the allocator"};
    case BreakdownKind::hung:
      return {"HUNG", "every call is answered in time", "the allocator"};
    case BreakdownKind::garbled:
      break;
  }
  return {"GARBLED", "every answer has the form that the protocol asks for", "the allocator"};
}

CauseText text_of(const Cause& cause) {
  if (const auto* invariant = std::get_if<Invariant>(&cause)) {
    const InvariantInfo& info = invariant_info(*invariant);
    return {info.id, info.statement, "the allocator"};
  }
  if (const auto* rule = std::get_if<Rule>(&cause)) {
    const RuleInfo& info = rule_info(*rule);
    return {info.id, info.statement, "the caller"};
  }
  if (const auto* breakdown = std::get_if<Breakdown>(&cause)) {
    return text_of_breakdown(breakdown->kind);
  }
  if (std::holds_alternative<ExpectationFault>(cause)) {
    return {"EXPECT", "the trace's own expectation holds", "the trace"};
  }
  return {"IMPLEMENTATION", "the implementation performs every call that the contract offers", "the implementation"};
}

}  // namespace

std::string_view cause_id(const Cause& cause) { return text_of(cause).id; }
std::string_view cause_statement(const Cause& cause) { return text_of(cause).statement; }
std::string_view cause_blame(const Cause& cause) { return text_of(cause).blame; }

}  // namespace poolproof
