// SPDX-License-Identifier: Apache-2.0
//
// The plain kernels compute what their headers say, up to the rounding of their sums:
// each is compared with its formula in double precision. The fast ones have the same bits
// (kernels_test.cpp).

#include <gtest/gtest.h>

#include <cmath>

#include "convoy/network/kernels/batch_norm.h"
#include "convoy/network/kernels/convolution.h"
#include "convoy/network/kernels/point/epilogue.h"
#include "convoy/network/kernels/product.h"
#include "convoy/network/kernels/reference_arithmetic.h"
#include "tests/network/kernel_tables.h"

namespace convoy {
namespace reference {
namespace {
#include "convoy/network/kernels/math.inc"
}  // namespace
}  // namespace reference

namespace {

/// For a sum of so many products of numbers in [-1, 1): four times what rounding the
/// largest possible sum once would err by.
double tolerance_for(std::size_t terms) {
  return 4 * 0x1p-24 * static_cast<double>(terms + 4);
}

class ReferenceKernels : public testing::Test, public Draws {
 protected:
  static constexpr KernelSet plain_ = KernelSet::reference;
};

TEST_F(ReferenceKernels, Multiply) {
  constexpr int kRows = 7, kDepth = 100, kPieces = 2;
  const Numbers a = numbers(kPieces * kRows * kDepth);
  const Numbers b = numbers(kPieces * kDepth * kPack), before = numbers(kRows * kPack);
  Numbers dst = before;

  product_kernels(plain_).product({.a = a.data(),
                                   .a_row = kDepth,
                                   .b = b.data(),
                                   .dst = dst.data(),
                                   .dst_row = kPack,
                                   .rows = kRows,
                                   .depth = kDepth,
                                   .accumulate = true,
                                   .pieces = kPieces,
                                   .a_piece = kRows * kDepth,
                                   .b_piece = kDepth * kPack});

  for (int i = 0; i < kRows * kPack; ++i) {
    double sum = before[i];
    for (int piece = 0; piece < kPieces; ++piece) {
      for (int k = 0; k < kDepth; ++k) {
        sum += static_cast<double>(a[(piece * kRows + i / kPack) * kDepth + k]) *
               static_cast<double>(b[(piece * kDepth + k) * kPack + i % kPack]);
      }
    }
    ASSERT_NEAR(dst[i], sum, tolerance_for(kPieces * kDepth)) << "element " << i;
  }
}

TEST_F(ReferenceKernels, ConvolveARowWithPadding) {
  constexpr int kChannels = 3, kSide = 6, kTaps = 3, kColumns = 6;
  const Numbers src = numbers(kChannels * kSide * kSide * kPack);
  const Numbers weights = numbers(kChannels * kTaps * kTaps), bias = {0.5f};
  Numbers dst(kColumns * kPack);

  convolution_kernels(plain_).row({.src = src.data(),
                                   .src_channels = kChannels,
                                   .src_height = kSide,
                                   .src_width = kSide,
                                   .taps_high = kTaps,
                                   .taps_wide = kTaps,
                                   .weights = weights.data(),
                                   .bias = bias.data(),
                                   .clamp_min = 0,
                                   .top = -1,
                                   .left = -1,
                                   .stride = 1,
                                   .dst = dst.data(),
                                   .dst_channels = 1,
                                   .columns = kColumns,
                                   .dst_channel = dst.size(),
                                   .dst_column = kPack});

  for (int i = 0; i < kColumns * kPack; ++i) {
    double sum = bias[0];
    for (int n = 0; n < kChannels * kTaps * kTaps; ++n) {
      const int c = n / 9, y = n / 3 % 3 - 1, x = i / kPack + n % 3 - 1;
      if (y < 0 || x < 0 || x >= kSide) continue;
      sum += static_cast<double>(weights[n]) *
             static_cast<double>(src[((c * kSide + y) * kSide + x) * kPack + i % kPack]);
    }
    ASSERT_NEAR(dst[i], std::max(0.0, sum), tolerance_for(27)) << "element " << i;
  }
}

TEST_F(ReferenceKernels, TakeTheGradientOfWeights) {
  constexpr int kSide = 9, kTaps = 3, kPixels = 4, kStride = 2;
  const Numbers src = numbers(kSide * kSide * kPack);
  const Numbers gradient = numbers(kPixels * kPixels * kPack);
  Numbers found(kTaps * kTaps);

  convolution_kernels(plain_).weights({src.data(), 1, kSide, kSide, kTaps, kTaps, kStride,
                                       kStride, gradient.data(), 1, kPixels, kPixels,
                                       found.data()});

  for (int tap = 0; tap < kTaps * kTaps; ++tap) {
    double sum = 0;
    for (int i = 0; i < kPixels * kPixels * kPack; ++i) {
      const int y = i / kPack / kPixels * kStride + tap / kTaps;
      const int x = i / kPack % kPixels * kStride + tap % kTaps;
      sum += static_cast<double>(gradient[i]) *
             static_cast<double>(src[(y * kSide + x) * kPack + i % kPack]);
    }
    ASSERT_NEAR(found[tap], sum, tolerance_for(kPixels * kPixels * kPack)) << tap;
  }
}

// The chunks in single precision are of 64 pixels: more pixels do not add to the error of
// a chunk, only to the number of chunks.
TEST_F(ReferenceKernels, AddMomentsAndNormSums) {
  constexpr std::size_t kPixels = 1000;
  const Numbers src = numbers(kPixels * kPack), gradient = numbers(kPixels * kPack);
  const float around = 0.25f;
  std::vector<double> sums(kPack), squares(kPack), of_gradients(kPack), products(kPack);

  batch_norm_kernels(plain_).add_moments(
      {src.data(), src.size(), around, sums.data(), squares.data()});
  batch_norm_kernels(plain_).add_sums({gradient.data(), src.data(), src.size(), around,
                                       of_gradients.data(), products.data()});

  for (std::size_t i = 0; i < src.size(); ++i) {
    const double value = static_cast<double>(src[i]) - static_cast<double>(around);
    sums[i % kPack] -= value;
    squares[i % kPack] -= value * value;
    of_gradients[i % kPack] -= static_cast<double>(gradient[i]);
    products[i % kPack] -= static_cast<double>(gradient[i]) * value;
  }
  for (const std::vector<double>& left : {sums, squares, of_gradients, products}) {
    for (const double error : left) {
      EXPECT_NEAR(error, 0, kPixels / 64.0 * tolerance_for(64));
    }
  }
}

TEST_F(ReferenceKernels, ScaleShiftAndTakeTheNormsGradient) {
  const Numbers src = numbers(kPack), other = numbers(kPack);
  Numbers scaled(kPack), gradient(kPack);

  epilogue_kernels(plain_).scale_shift(
      {src.data(), 1.5f, -0.25f, other.data(), 0, 0.5f, scaled.data(), kPack});
  batch_norm_kernels(plain_).gradient(
      {other.data(), src.data(), kPack, 0.25f, 1.5f, -0.75f, 0.125f, 9, gradient.data()});

  for (int i = 0; i < kPack; ++i) {
    const auto x = static_cast<double>(src[i]), y = static_cast<double>(other[i]);
    EXPECT_NEAR(scaled[i], std::clamp(1.5 * x - 0.25 + y, 0.0, 0.5), tolerance_for(2));
    EXPECT_NEAR(gradient[i], i < 9 ? 1.5 * y - 0.75 * (x - 0.25) + 0.125 : 0,
                tolerance_for(3));
  }
}

TEST_F(ReferenceKernels, Sum) {
  const Numbers values = numbers(100 * kPack);
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value);

  EXPECT_NEAR(epilogue_kernels(plain_).sum(values.data(), values.size()), sum,
              tolerance_for(100));
}

/// How many units in the last place of `exact` the number is off.
double units_off(float found, double exact) {
  const float nearest = static_cast<float>(exact);
  const float above = std::nextafter(nearest, INFINITY);
  const double unit = static_cast<double>(above) - static_cast<double>(nearest);
  return std::abs(static_cast<double>(found) - exact) / unit;
}

TEST(Exponential, IsWithinTwoUnitsInTheLastPlace) {
  double worst = 0;
  const auto measure = [&](float x) {
    worst = std::max(
        worst, units_off(reference::exponential(x), std::exp(static_cast<double>(x))));
  };
  for (int i = -5'180'000; i <= 4'435'000; ++i) measure(static_cast<float>(i) * 2e-5f);
  for (float x = 1; x > 1e-30f; x *= 0.99f) measure(x), measure(-x);  // close to zero

  EXPECT_LT(worst, 2);
  RecordProperty("worst", std::to_string(worst));
}

TEST(Exponential, EndsAtZeroAndInfinity) {
  EXPECT_EQ(reference::exponential(0.0f), 1.0f);
  EXPECT_EQ(reference::exponential(-0.0f), 1.0f);
  EXPECT_EQ(reference::exponential(-104.0f), 0.0f);
  EXPECT_EQ(reference::exponential(-INFINITY), 0.0f);
  EXPECT_EQ(reference::exponential(88.73f), INFINITY);
  EXPECT_EQ(reference::exponential(INFINITY), INFINITY);
  EXPECT_LT(reference::exponential(88.72f), INFINITY);
  EXPECT_GT(reference::exponential(-103.2f), 0.0f);  // the smallest denormal
  EXPECT_TRUE(std::isnan(reference::exponential(NAN)));
}

}  // namespace
}  // namespace convoy
