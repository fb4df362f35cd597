#include "props/guide.hpp"

#include <algorithm>

namespace poolproof {
namespace {

/// Fresh traces come first: what they reach at once is worth no trace that goes on from there.
constexpr std::size_t fewest_kept = 64;

std::size_t kind_of(const Geometry& g) {
  const std::size_t layout = g.ringed() ? 4 : static_cast<std::size_t>(g.layout);
  return 2 * layout + (g.need_sort ? 1 : 0);
}

}  // namespace

Lead Guide::lead(std::uint64_t index, Choices& choices) {
  if (kept_.size() < fewest_kept || choices.odds(1, 2)) {
    return {index, {}};
  }
  Kept* picked = &kept_[choices.draw(kept_.size())];
  Kept& other = kept_[choices.draw(kept_.size())];
  if (other.picks < picked->picks) {
    picked = &other;
  }
  ++picked->picks;
  Lead lead = picked->lead;
  if (choices.odds(1, 2)) {
    lead.tape.resize(lead.tape.size() / 2 + choices.draw(lead.tape.size() / 2 + 1));
  }
  return lead;
}

void Guide::begin(const Machine& machine) {
  features_.begin(machine);
  kind_ = kind_of(machine.geometry());
  ops_ = 0;
  news_op_ = 0;
  news_drawn_ = 0;
}

void Guide::after(const Op& op, const Machine& machine, bool refused, std::size_t drawn) {
  ++ops_;
  std::bitset<feature_limit>& known = known_.at(kind_);
  for (const std::uint32_t feature : features_.after(op, machine, refused)) {
    if (!known.test(feature)) {
      known.set(feature);
      news_op_ = ops_;
      news_drawn_ = drawn;
    }
  }
}

void Guide::end(std::uint64_t index, const std::vector<std::uint64_t>& drawn) {
  if (news_op_ > 0) {
    const auto length = static_cast<std::ptrdiff_t>(std::min(news_drawn_, drawn.size()));
    kept_.push_back({{index, {drawn.begin(), drawn.begin() + length}}, 0});
  }
}

std::size_t Guide::reached() const {
  std::size_t count = 0;
  for (const auto& known : known_) {
    count += known.count();
  }
  return count;
}

}  // namespace poolproof
