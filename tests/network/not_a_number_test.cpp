// SPDX-License-Identifier: Apache-2.0
//
// Not-a-number survives every kernel that could swallow it, so that a divergence is seen.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "convoy/network/kernels/convolution.h"
#include "convoy/network/kernels/point/activations.h"
#include "convoy/network/kernels/point/epilogue.h"
#include "tests/network/kernel_tables.h"
#include "tests/network/made_up.h"

namespace convoy {
namespace {

using testing::Each;
using testing::IsNan;

/// A run that diverges must be seen to do so: a ReLU does not make not-a-number zero.
class NotANumber : public testing::TestWithParam<KernelSet> {};

TEST_P(NotANumber, ComesThroughAConvolutionWithRelu) {
  constexpr int kTaps = 2, kSide = 3;
  Numbers src(kSide * kSide * kPack, -1.0f);
  src[(1 * kSide + 1) * kPack + 5] = kNan;  // image 5, in the middle
  const Numbers weights(kTaps * kTaps, 1.0f);
  Numbers dst(2 * kPack, kUntouched);

  convolution_kernels(GetParam())
      .row({.src = src.data(),
            .src_channels = 1,
            .src_height = kSide,
            .src_width = kSide,
            .taps_high = kTaps,
            .taps_wide = kTaps,
            .weights = weights.data(),
            .bias = nullptr,
            .clamp_min = 0,
            .top = 0,
            .left = 0,
            .stride = 1,
            .dst = dst.data(),
            .dst_channels = 1,
            .columns = 2,
            .dst_channel = 2 * kPack,
            .dst_column = kPack});

  for (int i = 0; i < 2 * kPack; ++i) {
    EXPECT_EQ(std::isnan(dst[i]), i % kPack == 5) << "element " << i;
  }
}

TEST_P(NotANumber, WinsItsPoolWindowWhereverItStands) {
  for (const int window : {2, 3}) {
    for (int place = 0; place < window * window; ++place) {
      Numbers src(static_cast<std::size_t>(window) * window * kPack, 1.0f);
      for (int image = 0; image < kPack; ++image) src[place * kPack + image] = kNan;
      const Pooled pooled =
          pool(GetParam(), {.src = src.data(),
                            .src_row = static_cast<std::size_t>(window * kPack),
                            .window = window,
                            .stride = window,
                            .columns = 1,
                            .clamp_min = 0,
                            .dst = nullptr,
                            .argmax = nullptr});

      for (int image = 0; image < kPack; ++image) {
        EXPECT_THAT(pooled.dst[image], IsNan()) << window << ", place " << place;
        EXPECT_EQ(pooled.argmax[image], place) << window << ", place " << place;
      }
    }
  }
}

TEST_P(NotANumber, ComesThroughGelu) {
  Numbers src(kPack, -1.0f), dst(kPack), gradient(kPack, 1.0f);
  src[3] = kNan;

  const ActivationKernels& gelu =
      activation_kernels(GetParam(), ActivationFunction::gelu);
  gelu.value({src.data(), dst.data(), kPack});
  gelu.gradient({src.data(), gradient.data(), gradient.data(), kPack});

  for (int i = 0; i < kPack; ++i) {
    EXPECT_EQ(std::isnan(dst[i]), i == 3) << "element " << i;
    EXPECT_EQ(std::isnan(gradient[i]), i == 3) << "element " << i;
  }
}

TEST_P(NotANumber, ComesThroughABiasWithRelu) {
  Numbers dst(2 * kPack, -1.0f);
  dst[3] = kNan;
  const Numbers bias = {0.5f, kNan};

  epilogue_kernels(GetParam()).add_bias({dst.data(), bias.data(), 2, /*clamp_min=*/0});

  for (int i = 0; i < 2 * kPack; ++i) {
    EXPECT_EQ(std::isnan(dst[i]), i == 3 || i >= kPack) << "element " << i;
  }
}

TEST_P(NotANumber, ComesThroughASum) {
  Numbers values(3 * kPack, 1.0f);
  values[20] = kNan;

  EXPECT_THAT(epilogue_kernels(GetParam()).sum(values.data(), values.size()), IsNan());
}

INSTANTIATE_TEST_SUITE_P(Sets, NotANumber, testing::ValuesIn(available_kernel_sets()),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace
}  // namespace convoy
