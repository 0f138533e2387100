// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/linear.h"

#include "tests/network/double_layer.h"

namespace convoy {
namespace {

const DoubleLayer<Linear> kLinear("linear", [](const Linear& layer,
                                               const DoubleArguments& of) {
  const DoubleBatch& src = of.first();
  const std::size_t features = src.shape.features();
  DoubleBatch dst(of.dst, of.samples());
  for (std::size_t row = 0; row < src.rows(); ++row) {
    for (int o = 0; o < layer.features; ++o) {
      double sum = layer.bias ? of.parameters[1][o] : 0;
      for (std::size_t f = 0; f < features; ++f) {
        sum += of.parameters[0][static_cast<std::size_t>(o) * features + f] *
               src.values[row * features + f];
      }
      dst.at(row, o) = sum;
    }
  }
  return dst;
});

}  // namespace
}  // namespace convoy
