#include "props/workload/features.hpp"

namespace poolproof {

const std::vector<FeatureInfo>& serving_features() {
  static const std::vector<FeatureInfo> features{
      {"prefix-cache", "pages outlive their request and are shared by prompts that begin alike",
       &ServingFeatures::prefix_cache},
      {"chunked-prefill", "long prompts are taken in over several steps", &ServingFeatures::chunked_prefill},
      {"window-eviction", "running requests give back what left their window", &ServingFeatures::window_eviction},
      {"recovery", "tombstones of the cache get the SWA pages of a request that computed them again",
       &ServingFeatures::recovery},
      {"load-back", "with a ring, a load-back from a lower cache maps a prompt's last window to the ring now and then",
       &ServingFeatures::load_back},
      {"groups", "the frees of a step stand in one free group", &ServingFeatures::groups},
      {"segments", "frees name segments of a row; without, sets of locs", &ServingFeatures::segments},
      {"optimistic", "now and then more is asked for than there is, before anything is evicted",
       &ServingFeatures::optimistic},
      {"aborts", "some requests are aborted, waiting or running", &ServingFeatures::aborts},
      {"tails", "prompts come from a prefill engine: SWA pages for their last window alone", &ServingFeatures::tails},
      {"window-rewrite", "with a ring, the last window of a cached prefix is written again before it is read",
       &ServingFeatures::window_rewrite},
  };
  return features;
}

ServingFeatures draw_features(Choices& choices) {
  ServingFeatures drawn;
  for (const FeatureInfo& feature : serving_features()) {
    drawn.*feature.flag = choices.odds(feature.flag == &ServingFeatures::tails ? 1 : 3, 4);
  }
  drawn.window_rewrite = true;  // to leave it out is a fault of the engine, not a way to run one
  return drawn;
}

}  // namespace poolproof
