#include "model/verdict.hpp"

namespace poolproof {
namespace {

struct CauseText {
  std::string_view id;
  std::string_view statement;
  std::string_view blame;
};

CauseText text_of(const Cause& cause) {
  if (const auto* invariant = std::get_if<Invariant>(&cause)) {
    const InvariantInfo& info = invariant_info(*invariant);
    return {info.id, info.statement, "the allocator"};
  }
  if (const auto* rule = std::get_if<Rule>(&cause)) {
    const RuleInfo& info = rule_info(*rule);
    return {info.id, info.statement, "the caller"};
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
