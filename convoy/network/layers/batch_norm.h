// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "convoy/network/layer.h"

namespace convoy {

/// Batch normalisation with PyTorch's conventions: it normalises with the batch's mean
/// and biased variance in training, with running ones in evaluation, and follows the
/// batch's mean and unbiased variance with the weight `momentum`.
struct BatchNorm {
  std::string name{};
  float epsilon = 1e-5f;  // added to the variance
  float momentum = 0.1f;

  static auto fields() {
    return std::tuple{Field{"name", &BatchNorm::name},
                      Field{"epsilon", &BatchNorm::epsilon},
                      Field{"momentum", &BatchNorm::momentum}};
  }
};

}  // namespace convoy
