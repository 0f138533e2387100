// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/batch_norm.h"

#include <cmath>

#include "tests/network/double_layer.h"

namespace convoy {
namespace {

/// Normalises one channel over all rows and pixels.
void normalize(const DoubleArguments& of, int c, double epsilon, DoubleBatch& batch) {
  const Shape shape = batch.shape;
  const auto count = static_cast<double>(batch.rows() * shape.pixels());
  const auto for_all = [&](const auto& work) {
    for (std::size_t row = 0; row < batch.rows(); ++row) {
      for (std::size_t i = 0; i < shape.pixels(); ++i) work((&batch.at(row, c))[i]);
    }
  };
  double sum = 0, squares = 0;
  for_all([&](double value) { sum += value; });
  const double mean = sum / count;
  for_all([&](double value) { squares += (value - mean) * (value - mean); });
  const double scale = of.parameters[0][c] / std::sqrt(squares / count + epsilon);
  for_all([&](double& value) { value = (value - mean) * scale + of.parameters[1][c]; });
}

const DoubleLayer<BatchNorm> kBatchNorm("batch_norm", [](const BatchNorm& layer,
                                                         const DoubleArguments& of) {
  DoubleBatch batch = of.first();
  for (int c = 0; c < batch.shape.channels; ++c) normalize(of, c, layer.epsilon, batch);
  return batch;
});

}  // namespace
}  // namespace convoy
