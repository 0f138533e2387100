// SPDX-License-Identifier: Apache-2.0
//
// Depthwise convolutions on every instruction set end at the bits of the plain ones.

#include <gtest/gtest.h>

#include "convoy/network/kernels/depthwise.h"
#include "tests/network/kernel_tables.h"

namespace convoy {
namespace {

class DepthwiseKernelsTest : public testing::TestWithParam<KernelSet>, public Draws {
 protected:
  /// Runs on the plain kernels and on these, and compares bits.
  template <class Run>
  void compare(const Run& run) {
    EXPECT_EQ(bits_of(run(depthwise_kernels(GetParam()))),
              bits_of(run(depthwise_kernels(KernelSet::reference))));
  }
  /// Threes often: they have code of their own.
  int draw_taps(int least) { return toss() ? 3 : draw(least, 7); }
  int draw_dilation() { return toss() ? 1 : draw(2, 3); }
};

TEST_P(DepthwiseKernelsTest, ComputeRowsWhereverTheWindowLies) {
  for (int i = 0; i < 300; ++i) {
    DepthwiseRow row{};
    row.src_height = draw(1, 9);
    row.src_width = draw(1, 20);
    row.taps_high = draw_taps(0);
    row.taps_wide = draw_taps(0);
    row.dilation_high = draw_dilation();
    row.dilation_wide = draw_dilation();
    row.start = toss() ? 0.7f : 0;
    row.accumulate = toss();
    row.top = draw(-row.taps_high * row.dilation_high, row.src_height);
    row.left = draw(-row.taps_wide * row.dilation_wide, row.src_width);
    row.stride = draw(1, 3);
    row.columns = draw(1, 20);
    row.dst_column = static_cast<std::size_t>(draw(1, 2)) * kPack;
    const Numbers src =
        numbers(static_cast<std::size_t>(row.src_height) * row.src_width * kPack);
    const Numbers taps =
        numbers(static_cast<std::size_t>(row.taps_high) * row.taps_wide + 1);
    const Numbers before = numbers(row.columns * row.dst_column);
    row.src = src.data();
    row.taps = taps.data();
    SCOPED_TRACE(i);

    compare([&](const DepthwiseKernels& kernels) {
      Numbers dst = before;
      DepthwiseRow own = row;
      own.dst = dst.data();
      kernels.row(own);
      return dst;
    });
  }
}

TEST_P(DepthwiseKernelsTest, TakeTheGradientOfTaps) {
  for (int i = 0; i < 200; ++i) {
    DepthwiseTaps work{};
    work.src_height = draw(1, 12);
    work.src_width = draw(1, 20);
    work.dst_height = draw(1, 12);
    work.dst_width = draw(1, 20);
    work.taps_high = draw_taps(1);
    work.taps_wide = draw_taps(1);
    work.dilation_high = draw_dilation();
    work.dilation_wide = draw_dilation();
    work.stride_high = draw(1, 3);
    work.stride_wide = draw(1, 3);
    work.top = draw(0, 4);
    work.left = draw(0, 4);
    const Numbers src =
        numbers(static_cast<std::size_t>(work.src_height) * work.src_width * kPack);
    const Numbers gradient =
        numbers(static_cast<std::size_t>(work.dst_height) * work.dst_width * kPack);
    work.src = src.data();
    work.dst_gradient = gradient.data();
    const auto taps = static_cast<std::size_t>(work.taps_high) * work.taps_wide;
    const auto first_rows = static_cast<std::size_t>(draw(0, work.dst_height - 1));
    SCOPED_TRACE(i);

    compare([&](const DepthwiseKernels& kernels) {
      alignas(64) float sums[7 * 7 * kPack];
      Numbers result(taps + 1, kUntouched);
      DepthwiseTaps own = work;
      own.sums = sums;
      own.gradient = result.data();
      own.rows = {0, first_rows};
      if (first_rows > 0) kernels.taps(own);
      own.rows = {first_rows, static_cast<std::size_t>(work.dst_height)};
      kernels.taps(own);
      return result;
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, DepthwiseKernelsTest,
                         testing::ValuesIn(fast_kernel_sets()),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace
}  // namespace convoy
