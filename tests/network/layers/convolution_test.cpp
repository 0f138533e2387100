// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/convolution.h"

#include "tests/network/double_layer.h"

namespace convoy {
namespace {

/// One output pixel.
double convolved(const Convolution& layer, const DoubleArguments& of, std::size_t row,
                 int k, int y, int x) {
  const DoubleBatch& src = of.first();
  const double* weight = of.parameters[0] + static_cast<std::size_t>(k) *
                                                src.shape.channels * layer.kernel *
                                                layer.kernel;
  double sum = layer.bias ? of.parameters[1][k] : 0;
  for (int c = 0; c < src.shape.channels; ++c) {
    for (int i = 0; i < layer.kernel * layer.kernel; ++i, ++weight) {
      const int from_y = y * layer.stride - layer.padding + i / layer.kernel;
      const int from_x = x * layer.stride - layer.padding + i % layer.kernel;
      if (src.has(from_y, from_x)) sum += *weight * src.at(row, c, from_y, from_x);
    }
  }
  return sum;
}

const DoubleLayer<Convolution> kConvolution("convolution", [](const Convolution& layer,
                                                              const DoubleArguments& of) {
  DoubleBatch dst(of.dst, of.samples());
  for (std::size_t row = 0; row < dst.rows(); ++row) {
    for (int k = 0; k < dst.shape.channels; ++k) {
      for (int y = 0; y < dst.shape.height; ++y) {
        for (int x = 0; x < dst.shape.width; ++x) {
          dst.at(row, k, y, x) = convolved(layer, of, row, k, y, x);
        }
      }
    }
  }
  return dst;
});

}  // namespace
}  // namespace convoy
