// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "convoy/base/error.h"
#include "convoy/network/layers/adaptive_average_pool.h"
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
  const Extent stride = layer.stride == 0 ? layer.window : layer.stride;
  return each_pixel(of, [&](std::size_t row, int c, int y, int x) {
    double largest = -std::numeric_limits<double>::infinity();
    for (int i = 0; i < layer.window.height * layer.window.width; ++i) {
      const int from_y = y * stride.height - layer.padding.top + i / layer.window.width;
      const int from_x = x * stride.width - layer.padding.left + i % layer.window.width;
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
  const int high = layer.window == 0 ? src.shape.height : layer.window.height;
  const int wide = layer.window == 0 ? src.shape.width : layer.window.width;
  const Extent stride = layer.stride == 0 ? Extent(high, wide) : layer.stride;
  const Padding& padding = layer.padding;
  return each_pixel(of, [&](std::size_t row, int c, int y, int x) {
    double sum = 0;
    int inside = 0, padded = 0;
    for (int i = 0; i < high * wide; ++i) {
      const int from_y = y * stride.height - padding.top + i / wide;
      const int from_x = x * stride.width - padding.left + i % wide;
      const bool counts = from_y < src.shape.height + padding.bottom &&
                          from_x < src.shape.width + padding.right;
      if (counts) ++padded;
      if (!src.has(from_y, from_x)) continue;
      ++inside;
      sum += src.at(row, c, from_y, from_x);
    }
    return sum / (layer.count_include_pad ? padded : inside);
  });
});

const DoubleLayer<AdaptiveAveragePool> kAdaptive(
    "adaptive_avg_pool", [](const AdaptiveAveragePool& layer, const DoubleArguments& of) {
      const DoubleBatch& src = of.first();
      const auto covers = [](int from, int side, int i, int count) {
        return from >= std::floor(1.0 * i * side / count) &&
               from < std::ceil((i + 1.0) * side / count);
      };
      return each_pixel(of, [&](std::size_t row, int c, int y, int x) {
        double sum = 0;
        int pixels = 0;
        for (int i = 0; i < src.shape.height * src.shape.width; ++i) {
          const int from_y = i / src.shape.width, from_x = i % src.shape.width;
          if (!covers(from_y, src.shape.height, y, layer.height)) continue;
          if (!covers(from_x, src.shape.width, x, layer.width)) continue;
          sum += src.at(row, c, from_y, from_x);
          ++pixels;
        }
        return sum / pixels;
      });
    });

template <class Options>
Shape pooled(const Options& layer, Shape src) {
  const std::vector<Shape> sources = {src};
  return Layer(layer).kind().describe(layer, {.src = sources}).dst;
}

TEST(Pools, HaveAsManyWindowsAsPyTorchs) {
  EXPECT_EQ(pooled(MaxPool{3, 2}, {1, 8, 7}), (Shape{1, 3, 3}));
  EXPECT_EQ(pooled(MaxPool{3, 2, 0, true}, {1, 8, 7}), (Shape{1, 4, 3}));
  // The fourth window would begin in the padding.
  EXPECT_EQ(pooled(MaxPool{2, 2, 1, true}, {1, 5, 5}), (Shape{1, 3, 3}));
  EXPECT_EQ(pooled(AveragePool{{2, 3}, 1, {0, 1}}, {1, 5, 5}), (Shape{1, 4, 5}));
  EXPECT_EQ(pooled(AdaptiveAveragePool{7, 6}, {1, 3, 20}), (Shape{1, 7, 6}));
}

TEST(Pools, RefuseWindowsOutsideTheImage) {
  EXPECT_THROW(pooled(MaxPool{2, 1, 2}, {1, 5, 5}), InputError);
  EXPECT_THROW(pooled(MaxPool{17}, {1, 20, 20}), InputError);
  EXPECT_THROW(pooled(AveragePool{2, 1, {0, 0, 2, 0}}, {1, 5, 5}), InputError);
  EXPECT_THROW(pooled(AveragePool{6}, {1, 5, 5}), InputError);
  EXPECT_THROW(pooled(AdaptiveAveragePool{0, 1}, {1, 5, 5}), InputError);
}

}  // namespace
}  // namespace convoy
