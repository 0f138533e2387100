// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/point/broadcast.h"

#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/network/kernels/point/broadcast.h"
#include "convoy/network/layers/add.h"
#include "convoy/network/layers/batch_norm.h"
#include "convoy/network/layers/point/layer_scale.h"
#include "convoy/network/layers/point/multiply.h"
#include "convoy/network/layers/point/stochastic_depth.h"
#include "convoy/network/layers/relu.h"
#include "convoy/network/stage_builder.h"
#include "tests/network/double_layer.h"
#include "tests/network/kernel_tables.h"

namespace convoy {
namespace {

/// operation(a, b) of both sources, the second broadcast.
template <class Operation>
DoubleBatch broadcast_doubles(const DoubleArguments& of, const Operation& operation) {
  const DoubleBatch& part = of.src[1];
  const auto rows = static_cast<std::size_t>(of.dst.rows);
  DoubleBatch dst = of.first();
  for (std::size_t row = 0; row < dst.rows(); ++row) {
    for (int c = 0; c < of.dst.channels; ++c) {
      for (int y = 0; y < of.dst.height; ++y) {
        for (int x = 0; x < of.dst.width; ++x) {
          const std::size_t from = part.shape.rows == of.dst.rows ? row : row / rows;
          double& value = dst.at(row, c, y, x);
          value = operation(value, part.at(from, std::min(c, part.shape.channels - 1),
                                           std::min(y, part.shape.height - 1),
                                           std::min(x, part.shape.width - 1)));
        }
      }
    }
  }
  return dst;
}

const DoubleLayer<Add> kAdd("add", [](const Add&, const DoubleArguments& of) {
  return broadcast_doubles(of, [](double a, double b) { return a + b; });
});

const DoubleLayer<Multiply> kMultiply("multiply", [](const Multiply&,
                                                     const DoubleArguments& of) {
  return broadcast_doubles(of, [](double a, double b) { return a * b; });
});

const DoubleLayer<LayerScale> kLayerScale("layer_scale", [](const LayerScale&,
                                                            const DoubleArguments& of) {
  DoubleBatch dst = of.first();
  const std::size_t features = of.dst.features(), pixels = of.dst.pixels();
  for (std::size_t i = 0; i < dst.values.size(); ++i) {
    dst.values[i] *= of.parameters[0][i % features / pixels];
  }
  return dst;
});

const DoubleLayer<StochasticDepth> kStochasticDepth(
    "stochastic_depth", [](const StochasticDepth&, const DoubleArguments& of) {
      DoubleBatch dst = of.first();
      for (std::size_t i = 0; i < dst.values.size(); ++i) dst.values[i] *= of.drawn[i];
      return dst;
    });

TEST(Broadcast, RefusesASecondSourceThatDoesNotFit) {
  try {
    const Broadcast broadcast("add", {3, 5, 4}, {3, 5, 1});
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "model: add\n"
                 "  found:    a second source of 1 rows of 3 x 5 x 1\n"
                 "  expected: the first one's 1 rows of 3 x 5 x 4, or one of what it has "
                 "several of\n"
                 "  hint:     the second source is the one that is broadcast");
  }
}

/// Stages of a batch norm, a sum with a second source of that many channels and pixels,
/// and a ReLU.
std::size_t stages_with(Shape second) {
  Model model("sum", {3, 4, 4});
  model.add(Relu{}, {kModelInput});
  const LayerIndex norm = model.add(BatchNorm{"bn"}, {0});
  LayerIndex part = 0;
  if (second.pixels() == 1) part = model.add(AveragePool{}, {0});
  model.add(Add{}, {norm, part});
  model.add(Relu{});
  return fuse_layers(model, {}).size();
}

TEST(Broadcast, OfASumIsNotJoinedToABatchNormOrAReluBehindIt) {
  EXPECT_EQ(stages_with({3, 4, 4}), 2u);  // ReLU, then norm with sum and ReLU
  EXPECT_EQ(stages_with({3, 1, 1}), 5u);
}

class BroadcastBits : public testing::TestWithParam<KernelSet>, public Draws {};

TEST_P(BroadcastBits, AreThoseOfTheReference) {
  const BroadcastKernels& fast = broadcast_kernels(GetParam());
  const BroadcastKernels& plain = broadcast_kernels(KernelSet::reference);
  for (int round = 0; round < 40; ++round) {
    const auto channels = static_cast<std::size_t>(draw(1, 9));
    const auto pixels = static_cast<std::size_t>(draw(1, 9));
    const std::size_t size = channels * pixels * kPack;
    const BroadcastStride stride = {toss() ? pixels * kPack : 0,
                                    toss() ? std::size_t{kPack} : 0};
    const Numbers a = numbers(size), b = numbers(size), before = numbers(size);
    const auto run = [&](const BroadcastKernels& kernels) {
      Numbers all(3 * size + 1, kUntouched), sums = before;
      kernels.add({a.data(), b.data(), stride, all.data(), channels, pixels});
      kernels.multiply({a.data(), b.data(), stride, &all[size], channels, pixels});
      kernels.scale_channels({a.data(), b.data(), &all[2 * size], channels, pixels});
      kernels.add_products({a.data(), b.data(), sums.data(), stride, channels, pixels});
      kernels.add_products({a.data(), nullptr, sums.data(), stride, channels, pixels});
      all.insert(all.end(), sums.begin(), sums.end());
      return all;
    };
    ASSERT_EQ(bits_of(run(fast)), bits_of(run(plain))) << channels << " x " << pixels;
  }
}

INSTANTIATE_TEST_SUITE_P(InstructionSets, BroadcastBits,
                         testing::ValuesIn(available_kernel_sets()),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace
}  // namespace convoy
