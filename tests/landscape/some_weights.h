// SPDX-License-Identifier: Apache-2.0
//
// Networks with random weights, for tests of planes through them.

#pragma once

#include <vector>

#include "convoy/landscape/plane.h"
#include "convoy/models/models.h"

namespace convoy {

inline LaidOutModel some_model(const std::string& name = "lenet5") {
  const Shape image = name == "lenet5" ? Shape{1, 28, 28} : Shape{3, 32, 32};
  return lay_out(make_model(name, image, 10));
}

inline OwnedWeights some_weights(const LaidOutModel& model, std::uint64_t seed) {
  OwnedWeights weights(model);
  initialize(model.layout, seed, weights.values);
  initialize(model.statistics_layout, seed, weights.statistics);
  return weights;
}

inline std::vector<const OwnedWeights*> pointers_to(
    const std::vector<OwnedWeights>& weights) {
  std::vector<const OwnedWeights*> pointers;
  for (const OwnedWeights& one : weights) pointers.push_back(&one);
  return pointers;
}

}  // namespace convoy
