// Pools of models that people serve: docs/models.md says where each figure is from and how the sizes come about.
#pragma once

#include <string_view>
#include <vector>

#include "model/geometry.hpp"

namespace poolproof {

struct ModelPreset {
  std::string_view name;    ///< as --model takes it
  std::string_view layers;  ///< "18 full, 18 sliding"
  std::string_view on;      ///< the cards that the pool's sizes are for
  Geometry geometry;
};

const std::vector<ModelPreset>& model_presets();

}  // namespace poolproof
