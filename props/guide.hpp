// Guidance for a campaign: traces that reached abstract states which none had reached before are remembered as tapes of
// their choices, and later traces go on from them (`poolproof check --guided`).
//
// A trace is fresh, or follows the tape of a remembered one up to about where its last news were and draws freshly from
// there on. A trace that reaches nothing new for a while ends: its ops are better spent on another one.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/machine.hpp"
#include "props/choices.hpp"
#include "props/state_features.hpp"

namespace poolproof {

/// A tape first, then another source; keeps all that was drawn.
class ResumedChoices final : public Choices {
 public:
  /// `rest` outlives it.
  ResumedChoices(std::vector<std::uint64_t> lead, Choices& rest) : lead_(std::move(lead)), rest_(rest) {}

  std::uint64_t draw(std::uint64_t bound) override {
    const std::size_t at = drawn_.size();
    drawn_.push_back(at < lead_.size() ? lead_[at] % bound : rest_.draw(bound));
    return drawn_.back();
  }
  [[nodiscard]] const std::vector<std::uint64_t>& drawn() const { return drawn_; }

 private:
  std::vector<std::uint64_t> lead_;
  std::vector<std::uint64_t> drawn_;
  Choices& rest_;
};

/// What one trace begins with.
struct Lead {
  std::uint64_t index = 0;          ///< of the trace that the tape is of: it has the geometry
  std::vector<std::uint64_t> tape;  ///< empty: a fresh trace
};

class Guide {
 public:
  /// The lead of trace `index`, drawn from `choices`.
  Lead lead(std::uint64_t index, Choices& choices);

  /// A trace begins on a fresh machine.
  void begin(const Machine& machine);
  /// Behind each op that held; `drawn` choices were made so far.
  void after(const Op& op, const Machine& machine, bool refused, std::size_t drawn);
  /// Nothing new for so long that the trace should end.
  [[nodiscard]] bool bored() const { return ops_ > news_op_ + patience; }
  /// The trace is over: it is remembered when it had news.
  void end(std::uint64_t index, const std::vector<std::uint64_t>& drawn);

  /// Traces remembered.
  [[nodiscard]] std::size_t size() const { return kept_.size(); }
  /// Features reached, over all kinds of pools.
  [[nodiscard]] std::size_t reached() const;

 private:
  /// Ops without news after which a trace ends.
  static constexpr std::uint32_t patience = 16;

  struct Kept {
    Lead lead;
    std::uint32_t picks = 0;
  };

  std::vector<Kept> kept_;
  /// By kind of pool: a state of one says little about another.
  std::array<std::bitset<feature_limit>, 10> known_;
  StateFeatures features_;
  std::size_t kind_ = 0;
  std::uint32_t ops_ = 0;
  std::uint32_t news_op_ = 0;   ///< of this trace, its last op with news; 0 = none
  std::size_t news_drawn_ = 0;  ///< choices drawn by then
};

}  // namespace poolproof
