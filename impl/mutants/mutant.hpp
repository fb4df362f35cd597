// How a mutant is made: a host twin with one step overridden, and its entry in the registry.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "impl/host/host.hpp"
#include "impl/registry.hpp"

namespace poolproof {

/// A twin that clones as `Mutant`, which derives from it.
template <typename Mutant, typename Twin>
class Mutated : public Twin {
 public:
  using Twin::Twin;
  [[nodiscard]] std::unique_ptr<Allocator> clone() const override {
    return std::make_unique<Mutant>(static_cast<const Mutant&>(*this));
  }
  bool assign(const Allocator& other) override {
    static_cast<Mutant&>(*this) = static_cast<const Mutant&>(other);
    return true;
  }
};

/// The words and conditions of a registry entry.
struct MutantFacts {
  std::string name;
  std::string source;     ///< "owner/repo#number", or where else the fault is known from
  std::string mechanism;  ///< one sentence
  std::vector<Invariant> caught_by;
  std::function<bool(const Geometry&)> supports;
};

using BuildMutant = std::function<std::unique_ptr<Allocator>(const Geometry&, std::shared_ptr<const Storage>)>;
using BuildMutantRank = std::function<std::unique_ptr<Allocator>(const Geometry&, std::uint32_t rank)>;

/// An entry with these words, a mutant's; how it is built is left open.
ImplInfo entry_of(const MutantFacts& facts);

/// What is wrong with building the entry there, as a sentence.
std::optional<std::string> unsuited(const ImplInfo& info, const Geometry& g);

/// The registry entry of a mutant that `build` makes.
ImplInfo mutant_entry(MutantFacts facts, BuildMutant build);

/// The same of a mutant whose replicas differ, and which shows on `ranks` of them.
ImplInfo ranked_mutant_entry(MutantFacts facts, std::uint32_t ranks, BuildMutantRank build);

/// A mutant of the hybrid twin.
template <typename Mutant>
ImplInfo hybrid_mutant(MutantFacts facts) {
  return mutant_entry(std::move(facts), [](const Geometry& g, std::shared_ptr<const Storage> storage) {
    return std::make_unique<Mutant>(g, std::move(storage));
  });
}

/// A mutant of every twin: `Mutant<Twin>` plants the same fault in each. What follows the geometry goes to it too.
template <template <typename> class Mutant, typename... More>
std::unique_ptr<Allocator> build_on_layout(const Geometry& geometry, More... more) {
  if (geometry.hybrid()) {
    return std::make_unique<Mutant<HybridAllocator>>(geometry, more...);
  }
  if (geometry.layout == Layout::pure_swa) {
    return std::make_unique<Mutant<PureSwaAllocator>>(geometry, more...);
  }
  return std::make_unique<Mutant<SingleAllocator>>(geometry, more...);
}

template <template <typename> class Mutant>
ImplInfo any_layout_mutant(MutantFacts facts) {
  return mutant_entry(std::move(facts), [](const Geometry& g, std::shared_ptr<const Storage> storage) {
    return build_on_layout<Mutant>(g, std::move(storage));
  });
}

// Geometries that faults need.
inline bool any_geometry(const Geometry& /*g*/) { return true; }
inline bool wide_pages(const Geometry& g) { return g.page > 1; }
inline bool paired(const Geometry& g) { return g.paired(); }
inline bool paired_wide_pages(const Geometry& g) { return g.paired() && g.page > 1; }
inline bool any_hybrid(const Geometry& g) { return g.hybrid(); }
inline bool ring_beyond_window(const Geometry& g) { return g.ring > g.window; }
inline bool two_slots(const Geometry& g) { return g.reqs > 1; }
inline bool ringed(const Geometry& g) { return g.ringed(); }
inline bool staging(const Geometry& g) { return g.need_sort; }

}  // namespace poolproof
