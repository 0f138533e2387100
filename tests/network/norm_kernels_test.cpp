// SPDX-License-Identifier: Apache-2.0
//
// Kernels of batch norms with a clamp, and those that gather and stream pixels: fast
// forms have the bits of the plain ones.

#include <gtest/gtest.h>

#include <cmath>

#include "convoy/base/aligned.h"
#include "convoy/network/kernels/batch_norm.h"
#include "convoy/network/kernels/point/epilogue.h"
#include "convoy/network/kernels/point/pixels.h"
#include "tests/network/kernel_tables.h"

namespace convoy {
namespace {

class NormKernels : public testing::TestWithParam<KernelSet>, public Draws {
 protected:
  /// run(set) gives the same with the fast set and the reference.
  template <class Run>
  void compare(const Run& run) {
    EXPECT_EQ(run(GetParam()), run(KernelSet::reference));
  }

  static constexpr NormMask kMask = {1.2f, 0.1f, -0.4f, 0.6f};
};

constexpr std::size_t kMostFloats = 70 * kPack;

TEST_P(NormKernels, MaskByRange) {
  const Numbers activation = coarse_numbers(kMostFloats);
  const Numbers before = numbers(kMostFloats);

  compare([&](KernelSet set) {
    Numbers gradient = before;
    epilogue_kernels(set).mask_by_range(
        {gradient.data(), activation.data(), kMostFloats, -1, 2});
    return gradient;
  });
}

TEST_P(NormKernels, ClampWhatIsScaledWhetherStreamedOrNot) {
  const Numbers src = numbers(kMostFloats);
  for (const bool stream : {false, true}) {
    compare([&](KernelSet set) {
      alignas(kCacheLine) float dst[kMostFloats];
      epilogue_kernels(set).scale_shift({.src = src.data(),
                                         .scale = 2,
                                         .shift = 0.1f,
                                         .clamp_min = -0.5f,
                                         .clamp_max = 0.75f,
                                         .dst = dst,
                                         .size = kMostFloats,
                                         .stream = stream});
      return Numbers(dst, dst + kMostFloats);
    });
  }
}

TEST_P(NormKernels, AddGradientsThatAMaskLetsThrough) {
  const Numbers src = numbers(kMostFloats), gradient = numbers(kMostFloats);

  compare([&](KernelSet set) {
    std::vector<double> sums(2 * kPack, 0.1);
    batch_norm_kernels(set).add_sums({.gradient = gradient.data(),
                                      .src = src.data(),
                                      .size = kMostFloats,
                                      .mean = 0.3f,
                                      .sums = sums.data(),
                                      .products = sums.data() + kPack,
                                      .mask = &kMask});
    return sums;
  });
}

TEST_P(NormKernels, AMaskCountsAsGradientsThatAreZero) {
  const Numbers src = numbers(kMostFloats), gradient = numbers(kMostFloats);
  Numbers masked = gradient;
  for (std::size_t i = 0; i < masked.size(); ++i) {
    const float value = std::fma(kMask.scale, src[i], kMask.shift);
    if (!(kMask.above < value && value < kMask.below)) masked[i] = 0;
  }
  const auto result = [&](const Numbers& from, const NormMask* mask, bool stream) {
    alignas(kCacheLine) float dst[kMostFloats];
    batch_norm_kernels(GetParam())
        .gradient({.gradient = from.data(),
                   .src = src.data(),
                   .size = kMostFloats,
                   .mean = 0.3f,
                   .from_gradient = 1.1f,
                   .from_source = -0.7f,
                   .constant = 0.05f,
                   .images = 11,
                   .dst = dst,
                   .mask = mask,
                   .stream = stream});
    return Numbers(dst, dst + kMostFloats);
  };

  EXPECT_EQ(result(gradient, &kMask, false), result(masked, nullptr, false));
  EXPECT_EQ(result(gradient, &kMask, true), result(masked, nullptr, true));
}

TEST_P(NormKernels, GatherPixelsAndFillUpChannels) {
  const Numbers src = numbers(std::size_t{20} * 40 * kPack);
  for (const std::size_t channels : {1, 16, 17}) {
    compare([&](KernelSet set) {
      Numbers dst(std::size_t{7} * 33 * kPack, kUntouched);
      pixel_kernels(set).gather({.src = src.data() + 3 * kPack,
                                 .src_channel = std::size_t{40} * kPack,
                                 .channels = channels,
                                 .pixels = 7,
                                 .dst = dst.data(),
                                 .dst_pixel = std::size_t{33} * kPack});
      return dst;
    });
  }
}

TEST_P(NormKernels, StreamRows) {
  const Numbers src = numbers(std::size_t{5} * 6 * kPack);

  compare([&](KernelSet set) {
    alignas(kCacheLine) float dst[5 * 9 * kPack] = {};
    pixel_kernels(set).stream({src.data(), 5, 6, dst, std::size_t{9} * kPack});
    pixel_kernels(set).finish_stream();
    return Numbers(dst, dst + std::size(dst));
  });
}

INSTANTIATE_TEST_SUITE_P(Tables, NormKernels, testing::ValuesIn(fast_kernel_sets()),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace
}  // namespace convoy
