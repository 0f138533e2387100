// SPDX-License-Identifier: Apache-2.0
//
// The formulas of activation functions over more numbers than the examples of layers
// have, and at the edges, where PyTorch decides which side counts.

#include "convoy/network/layers/point/activations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "convoy/network/kernels/point/activations.h"
#include "tests/network/double_layer.h"
#include "tests/network/kernel_tables.h"

namespace convoy {
namespace {

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }
double hard_sigmoid_of(double x) { return std::clamp(x + 3, 0.0, 6.0) / 6; }
double gelu_of(double x) { return 0.5 * x * std::erfc(-x / std::numbers::sqrt2); }
double gelu_tanh_of(double x) {
  const double u = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1 + std::tanh(u));
}

const auto kSigmoid = elementwise<Sigmoid>(
    "sigmoid", [](const Sigmoid&, double x) { return sigmoid_of(x); });
const auto kSilu =
    elementwise<Silu>("silu", [](const Silu&, double x) { return x * sigmoid_of(x); });
const auto kHardSigmoid = elementwise<HardSigmoid>(
    "hard_sigmoid", [](const HardSigmoid&, double x) { return hard_sigmoid_of(x); });
const auto kHardSwish = elementwise<HardSwish>(
    "hard_swish", [](const HardSwish&, double x) { return x * hard_sigmoid_of(x); });
const auto kTanh =
    elementwise<Tanh>("tanh", [](const Tanh&, double x) { return std::tanh(x); });
const auto kClip = elementwise<Clip>("clip", [](const Clip& layer, double x) {
  return std::clamp(x, static_cast<double>(layer.min), static_cast<double>(layer.max));
});
const auto kLeakyRelu =
    elementwise<LeakyRelu>("leaky_relu", [](const LeakyRelu& layer, double x) {
      return x > 0 ? x : static_cast<double>(layer.slope) * x;
    });

/// A function of the list, in double precision.
struct DoubleFunction {
  const char* name;
  ActivationFunction function;
  ActivationConstants constants;
  double (*value)(double);
  double error = 1e-7;  // besides rounding
};

const std::vector<DoubleFunction> kFunctions = {
    {"Sigmoid", ActivationFunction::sigmoid, {}, sigmoid_of},
    {"Silu", ActivationFunction::silu, {}, [](double x) { return x * sigmoid_of(x); }},
    {"HardSigmoid", ActivationFunction::hard_sigmoid, {}, hard_sigmoid_of},
    {"HardSwish",
     ActivationFunction::hard_swish,
     {},
     [](double x) { return x * hard_sigmoid_of(x); }},
    {"Tanh", ActivationFunction::tanh, {}, [](double x) { return std::tanh(x); }},
    {"Clip",
     ActivationFunction::clip,
     {-2, 6},
     [](double x) { return std::clamp(x, -2.0, 6.0); }},
    {"LeakyRelu",
     ActivationFunction::leaky_relu,
     {0.25f, 0},
     [](double x) { return x > 0 ? x : 0.25 * x; }},
    {"Gelu", ActivationFunction::gelu, {}, gelu_of, 1e-6},
    {"GeluTanh", ActivationFunction::gelu_tanh, {}, gelu_tanh_of},
};

class ActivationFormula : public testing::TestWithParam<DoubleFunction> {
 protected:
  Numbers values(KernelSet set, const Numbers& src) const {
    Numbers dst(src.size());
    kernels(set).value({src.data(), dst.data(), src.size(), GetParam().constants});
    return dst;
  }
  Numbers slopes(KernelSet set, const Numbers& src) const {
    const Numbers ones(src.size(), 1.0f);
    Numbers dst(src.size());
    kernels(set).gradient(
        {src.data(), ones.data(), dst.data(), src.size(), GetParam().constants});
    return dst;
  }

 private:
  const ActivationKernels& kernels(KernelSet set) const {
    return activation_kernels(set, GetParam().function);
  }
};

/// -16 .. 16 without the edges of any function.
Numbers range_of_numbers() {
  Numbers src(1024 * kPack);
  for (std::size_t i = 0; i < src.size(); ++i) {
    src[i] = (static_cast<float>(i) - 8191.5f) / 512;
  }
  return src;
}

TEST_P(ActivationFormula, IsTheFunctionAndItsSlope) {
  const Numbers src = range_of_numbers();
  const Numbers found = values(KernelSet::reference, src);
  const Numbers slope = slopes(KernelSet::reference, src);

  const auto function = GetParam().value;
  for (std::size_t i = 0; i < src.size(); ++i) {
    const auto x = static_cast<double>(src[i]);
    ASSERT_NEAR(found[i], function(x), 4e-7 * std::abs(function(x)) + GetParam().error)
        << x;
    const double difference = (function(x + 1e-6) - function(x - 1e-6)) / 2e-6;
    ASSERT_NEAR(slope[i], difference, 2e-6) << x;
  }
}

TEST_P(ActivationFormula, HasTheSameBitsWithAllKernels) {
  Numbers src = range_of_numbers();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  src.insert(src.end(), {-0.0f, 0.0f, 2e-38f, 3.0f, -3.0f, 3e38f, -3e38f, 1e20f, -1e20f,
                         88.0f, -88.0f, 6.0f, -2.0f, 104.0f, -104.0f, kInfinity});
  const Numbers values_then = values(KernelSet::reference, src);
  const Numbers slopes_then = slopes(KernelSet::reference, src);

  for (const KernelSet set : available_kernel_sets()) {
    SCOPED_TRACE(name_of(set));
    const Numbers value = values(set, src), slope = slopes(set, src);
    for (std::size_t i = 0; i < src.size(); ++i) {
      // The sign of not-a-number may be either.
      if (std::isnan(slopes_then[i]) && std::isnan(slope[i])) continue;
      ASSERT_EQ(bits_of({value[i]}), bits_of({values_then[i]})) << src[i];
      ASSERT_EQ(bits_of({slope[i]}), bits_of({slopes_then[i]})) << src[i];
    }
  }
}

TEST_P(ActivationFormula, KeepsNotANumber) {
  const Numbers src(kPack, std::numeric_limits<float>::quiet_NaN());
  for (const KernelSet set : available_kernel_sets()) {
    EXPECT_TRUE(std::isnan(values(set, src)[3])) << name_of(set);
  }
}

INSTANTIATE_TEST_SUITE_P(Functions, ActivationFormula, testing::ValuesIn(kFunctions),
                         [](const auto& info) { return info.param.name; });

float slope_at(ActivationFunction function, float x, ActivationConstants constants = {}) {
  const Numbers src(kPack, x), ones(kPack, 1.0f);
  Numbers dst(kPack);
  activation_kernels(KernelSet::reference, function)
      .gradient({src.data(), ones.data(), dst.data(), kPack, constants});
  return dst[0];
}

TEST(ActivationEdges, HaveTheSlopesOfPyTorch) {
  EXPECT_EQ(slope_at(ActivationFunction::hard_sigmoid, -3), 0.0f);
  EXPECT_EQ(slope_at(ActivationFunction::hard_sigmoid, 3), 0.0f);
  EXPECT_EQ(slope_at(ActivationFunction::hard_swish, -3), 0.0f);
  EXPECT_EQ(slope_at(ActivationFunction::hard_swish, 3), 1.0f);
  EXPECT_EQ(slope_at(ActivationFunction::clip, 0, {0, 6}), 0.0f);
  EXPECT_EQ(slope_at(ActivationFunction::clip, 6, {0, 6}), 0.0f);
  EXPECT_EQ(slope_at(ActivationFunction::leaky_relu, 0, {0.25f, 0}), 0.25f);
}

TEST(TanhNearZero, IsAccurateInItsLastPlaces) {
  Numbers src(16 * kPack), dst(16 * kPack);
  for (std::size_t i = 0; i < src.size(); ++i) src[i] = static_cast<float>(i) * 0x1p-9f;
  src[1] = 1e-7f;
  activation_kernels(KernelSet::reference, ActivationFunction::tanh)
      .value({src.data(), dst.data(), src.size()});
  for (std::size_t i = 0; i < src.size(); ++i) {
    const double exact = std::tanh(static_cast<double>(src[i]));
    ASSERT_NEAR(dst[i], exact, 3e-7 * exact) << src[i];
  }
}

}  // namespace
}  // namespace convoy
