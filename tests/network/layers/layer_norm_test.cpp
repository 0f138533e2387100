// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/layer_norm.h"

#include <cmath>

#include "tests/network/double_layer.h"

namespace convoy {
namespace {

const DoubleLayer<LayerNorm> kLayerNorm("layer_norm", [](const LayerNorm& layer,
                                                         const DoubleArguments& of) {
  DoubleBatch batch = of.first();
  const std::size_t features = batch.shape.features();
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    double* numbers = batch.values.data() + row * features;
    double sum = 0, squares = 0;
    for (std::size_t f = 0; f < features; ++f) sum += numbers[f];
    const double mean = sum / static_cast<double>(features);
    for (std::size_t f = 0; f < features; ++f) {
      squares += (numbers[f] - mean) * (numbers[f] - mean);
    }
    const double deviation =
        std::sqrt(squares / static_cast<double>(features) + layer.epsilon);
    for (std::size_t f = 0; f < features; ++f) {
      numbers[f] =
          (numbers[f] - mean) / deviation * of.parameters[0][f] + of.parameters[1][f];
    }
  }
  return batch;
});

}  // namespace
}  // namespace convoy
