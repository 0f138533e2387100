// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "convoy/network/layer.h"

namespace convoy {

inline constexpr float kNormEpsilon = 1e-5f;
inline constexpr float kStatisticsRate = 0.1f;

/// Batch normalisation with PyTorch's conventions: it normalises with the batch's mean
/// and biased variance in training, with running ones in evaluation, and follows the
/// batch's mean and unbiased variance with the weight kStatisticsRate.
struct BatchNorm {
  std::string name{};

  static auto fields() { return std::tuple{Field{"name", &BatchNorm::name}}; }
};

}  // namespace convoy
