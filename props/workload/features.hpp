// What a simulated engine does beside lending and taking back: each can be switched off, or drawn by a seed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/geometry.hpp"
#include "props/choices.hpp"

namespace poolproof {

struct ServingFeatures {
  bool prefix_cache = true;     ///< pages outlive their request, and prompts that begin alike share them
  bool chunked_prefill = true;  ///< a long prompt is taken in over several steps
  bool window_eviction = true;  ///< a running request gives back what left its window
  bool recovery = true;         ///< a finished request's SWA pages go to the tombstones that it computed again
  bool load_back = true;   ///< with a ring: now and then a prompt's last window is mapped to the request's ring rows
  bool groups = true;      ///< the frees of a step stand in one free group
  bool segments = true;    ///< frees name segments of a row where they can; false: sets of locs
  bool optimistic = true;  ///< now and then it asks for more than there is, before it evicts
  bool aborts = true;      ///< some requests are aborted, waiting or running
  bool tails = false;      ///< prompts come from a prefill engine: SWA pages for their last window alone
  /// With a ring: the last window of a prefix that was found cached is written again. An engine that leaves that out
  /// reads what another request wrote.
  bool window_rewrite = true;
};

struct FeatureInfo {
  std::string_view name;  ///< as --without and --with take it
  std::string_view what;
  bool ServingFeatures::*flag;
};

/// In the order of their declaration.
const std::vector<FeatureInfo>& serving_features();

/// A set of features for one run, each switched by chance; never one that an engine could not do without.
ServingFeatures draw_features(Choices& choices);

}  // namespace poolproof
