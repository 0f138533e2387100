// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/convolution.h"

#include <gmock/gmock.h>

#include <cmath>

#include "convoy/base/error.h"
#include "convoy/network/winograd_plan.h"
#include "tests/network/double_layer.h"

namespace convoy {
namespace {

/// One output pixel.
double convolved(const Convolution& layer, const DoubleArguments& of, std::size_t row,
                 int k, int y, int x) {
  const DoubleBatch& src = of.first();
  const int inputs = src.shape.channels / layer.groups;
  const int group = k / (layer.channels / layer.groups);
  const int taps = layer.kernel.height * layer.kernel.width;
  const double* weight = of.parameters[0] + static_cast<std::size_t>(k * inputs * taps);
  double sum = layer.bias ? of.parameters[1][k] : 0;
  for (int c = group * inputs; c < (group + 1) * inputs; ++c) {
    for (int i = 0; i < taps; ++i, ++weight) {
      const int r = i / layer.kernel.width, s = i % layer.kernel.width;
      const int from_y =
          y * layer.stride.height - layer.padding.top + r * layer.dilation.height;
      const int from_x =
          x * layer.stride.width - layer.padding.left + s * layer.dilation.width;
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

LayerDescription described(const Convolution& layer, Shape src) {
  const std::vector<Shape> sources = {src};
  return Layer(layer).kind().describe(layer, {.src = sources});
}

std::string refusal(const Convolution& layer, Shape src) {
  try {
    described(layer, src);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Convolution, HasPyTorchsWeightsForEachGroup) {
  const LayerDescription found = described(
      {.name = "conv", .channels = 12, .kernel = {1, 5}, .groups = 4}, {8, 9, 9});

  EXPECT_THAT(found.parameters[0].shape, testing::ElementsAre(12, 2, 1, 5));
  EXPECT_EQ(found.parameters[0].init.scale, 1 / std::sqrt(10.0f));
  EXPECT_EQ(found.flops, 2u * 10 * 12 * 9 * 5);
}

TEST(Convolution, RefusesGroupsThatDoNotDivideItsChannels) {
  EXPECT_THAT(refusal({.name = "conv", .channels = 6, .groups = 4}, {8, 3, 3}),
              testing::HasSubstr("4 groups of 8 to 6 channels"));
  EXPECT_THAT(refusal({.name = "conv", .channels = 8, .groups = 4}, {6, 3, 3}),
              testing::HasSubstr("4 groups of 6 to 8 channels"));
}

TEST(Convolution, RefusesAWindowThatIsNotPossible) {
  EXPECT_THAT(refusal({.name = "conv", .kernel = {3, 1}, .stride = {1, 0}}, {1, 3, 3}),
              testing::HasSubstr("a window of 3x1, stride 1x0, padding 0, dilation 1"));
  EXPECT_THAT(refusal({.name = "conv", .kernel = 3, .dilation = {4, 1}}, {1, 8, 8}),
              testing::HasSubstr("at least 9 x 3"));
}

TEST(Convolution, ReadsOneNumberOrOnePerSide) {
  const LayerKind& kind = find_layer_kind("convolution");
  using Sides = std::vector<std::int64_t>;
  const Layer layer = kind.from_options({{"kernel", Sides{1, 7}},
                                         {"stride", std::int64_t{2}},
                                         {"padding", Sides{0, 1, 2, 3}}});

  EXPECT_EQ(layer.get<Convolution>().kernel, Extent(1, 7));
  EXPECT_EQ(layer.get<Convolution>().stride, Extent(2));
  EXPECT_EQ(layer.get<Convolution>().padding, Padding(0, 1, 2, 3));
  EXPECT_THROW(kind.from_options({{"kernel", Sides{1, 2, 3}}}), InputError);
  EXPECT_THROW(kind.from_options({{"padding", Sides{1, 2, 3}}}), InputError);
}

TEST(Convolution, IsInWinogradsFormOnlyIfItIsPlain) {
  const Convolution plain = {.channels = 64, .kernel = 3, .padding = 1};
  const auto form = [&](auto change) {
    Convolution layer = plain;
    change(layer);
    return choose_form(WinogradMode::f4, layer, {64, 16, 16});
  };

  EXPECT_TRUE(form([](Convolution&) {}));
  EXPECT_FALSE(form([](Convolution& layer) { layer.groups = 2; }));
  EXPECT_FALSE(form([](Convolution& layer) { layer.dilation = {1, 2}; }));
  EXPECT_FALSE(form([](Convolution& layer) { layer.padding = {1, 1, 1, 0}; }));
  EXPECT_FALSE(form([](Convolution& layer) { layer.stride = {1, 2}; }));
  EXPECT_FALSE(form([](Convolution& layer) { layer.kernel = {3, 1}; }));
}

}  // namespace
}  // namespace convoy
