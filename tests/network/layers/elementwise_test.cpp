// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <numbers>

#include "convoy/network/layers/dropout.h"
#include "convoy/network/layers/flatten.h"
#include "convoy/network/layers/gelu.h"
#include "convoy/network/layers/relu.h"
#include "tests/network/double_layer.h"

namespace convoy {
namespace {

const auto kRelu = elementwise<Relu>(
    "relu", [](const Relu&, double value) { return std::max(0.0, value); });

const auto kGelu = elementwise<Gelu>("gelu", [](const Gelu& layer, double value) {
  if (!layer.tanh) return value * 0.5 * std::erfc(-value / std::sqrt(2.0));
  const double cubic = value + 0.044715 * value * value * value;
  return 0.5 * value * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * cubic));
});

const DoubleLayer<Dropout> kDropout("dropout", [](const Dropout&,
                                                  const DoubleArguments& of) {
  DoubleBatch result = of.first();
  for (std::size_t i = 0; i < result.values.size(); ++i) result.values[i] *= of.drawn[i];
  return result;
});

const DoubleLayer<Flatten> kFlatten("flatten",
                                    [](const Flatten&, const DoubleArguments& of) {
                                      DoubleBatch result = of.first();
                                      result.shape = of.dst;
                                      return result;
                                    });

}  // namespace
}  // namespace convoy
