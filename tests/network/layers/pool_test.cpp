// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <limits>

#include "convoy/network/layers/average_pool.h"
#include "convoy/network/layers/max_pool.h"
#include "tests/network/double_layer.h"

namespace convoy {
namespace {

/// Calls work(pixel of dst, row, channel, y, x) for every number of the result.
template <class Work>
DoubleBatch each_pixel(const DoubleArguments& of, const Work& work) {
  DoubleBatch dst(of.dst, of.samples());
  for (std::size_t row = 0; row < dst.rows(); ++row) {
    for (int c = 0; c < dst.shape.channels; ++c) {
      for (int y = 0; y < dst.shape.height; ++y) {
        for (int x = 0; x < dst.shape.width; ++x) {
          dst.at(row, c, y, x) = work(row, c, y, x);
        }
      }
    }
  }
  return dst;
}

const DoubleLayer<MaxPool> kMaxPool("max_pool", [](const MaxPool& layer,
                                                   const DoubleArguments& of) {
  const DoubleBatch& src = of.first();
  return each_pixel(of, [&](std::size_t row, int c, int y, int x) {
    double largest = -std::numeric_limits<double>::infinity();
    for (int i = 0; i < layer.window * layer.window; ++i) {
      const int from_y = y * layer.real_stride() - layer.padding + i / layer.window;
      const int from_x = x * layer.real_stride() - layer.padding + i % layer.window;
      if (src.has(from_y, from_x)) {
        largest = std::max(largest, src.at(row, c, from_y, from_x));
      }
    }
    return largest;
  });
});

const DoubleLayer<AveragePool> kAveragePool("avg_pool", [](const AveragePool& layer,
                                                           const DoubleArguments& of) {
  const DoubleBatch& src = of.first();
  const int high = layer.window == 0 ? src.shape.height : layer.window;
  const int wide = layer.window == 0 ? src.shape.width : layer.window;
  return each_pixel(of, [&](std::size_t row, int c, int y, int x) {
    double sum = 0;
    for (int i = 0; i < high * wide; ++i) {
      sum += src.at(row, c, y * high + i / wide, x * wide + i % wide);
    }
    return sum / (high * wide);
  });
});

}  // namespace
}  // namespace convoy
