// SPDX-License-Identifier: Apache-2.0
//
// Law 1, second half: every fast kernel ends at the bits of its plain reference, for
// every instruction set that this processor has. Shapes are drawn at random, always the
// same ones. kernels_error_test.cpp compares the reference with the formulas.

#include "convoy/network/kernels/kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "convoy/base/random.h"
#include "convoy/network/kernels/batch_norm.h"
#include "convoy/network/kernels/convolution.h"
#include "convoy/network/kernels/dropout.h"
#include "convoy/network/kernels/point/epilogue.h"
#include "convoy/network/kernels/product.h"
#include "tests/network/kernel_tables.h"
#include "tests/network/made_up.h"

namespace convoy {
namespace {

using testing::Each;

/// The operand of `rows` x `depth` in tiles of this kernel set.
Numbers in_tiles(KernelSet set, const Numbers& matrix, int rows, int depth) {
  Numbers tiled(matrix.size());
  const Tiles tiles(rows, product_kernels(set).tile);
  for (int tile = 0; tile < tiles.count; ++tile) {
    const std::size_t first = static_cast<std::size_t>(tiles.begin(tile)) * depth;
    product_kernels(set).rows_to_tile({.src = matrix.data() + first,
                                       .src_row = static_cast<std::size_t>(depth),
                                       .rows = tiles.size(tile),
                                       .depth = depth,
                                       .dst = tiled.data() + first});
  }
  return tiled;
}

class FastKernels : public testing::TestWithParam<KernelSet>, public Draws {
 protected:
  const KernelSet fast_ = GetParam(), plain_ = KernelSet::reference;

  /// What run(set) gives has the same bits with both sets.
  template <class Run>
  void compare(const Run& run) const {
    EXPECT_EQ(bits_of(run(fast_)), bits_of(run(plain_)));
  }

  void compare_products(int rows, int columns, int depth);
  void compare_convolution_rows(int src_channels, int dst_channels);
  void compare_convolution_weights(int src_channels, int dst_channels, int height,
                                   int width);
};

void FastKernels::compare_products(int rows, int columns, int depth) {
  SCOPED_TRACE(testing::Message() << rows << " x " << columns << ", depth " << depth);
  const Numbers a = numbers(static_cast<std::size_t>(rows) * depth);
  const Numbers b = numbers(static_cast<std::size_t>(depth) * kPack);
  const auto dst_row = static_cast<std::size_t>(columns + draw(0, 5));
  const Numbers before = numbers(static_cast<std::size_t>(rows) * dst_row);
  for (const bool tiled : {false, true}) {
    for (const bool accumulate : {false, true}) {
      const auto run = [&](KernelSet set) {
        const Numbers left = tiled ? in_tiles(set, a, rows, depth) : a;
        Numbers dst = before;
        product_kernels(set).product(
            {.a = left.data(),
             .a_row = tiled ? 0 : static_cast<std::size_t>(depth),
             .b = b.data(),
             .dst = dst.data(),
             .dst_row = dst_row,
             .rows = rows,
             .depth = depth,
             .columns = columns,
             .accumulate = accumulate});
        return dst;
      };
      compare(run);
    }
  }
}

TEST_P(FastKernels, MultiplyAnyNumberOfRows) {
  for (int rows = 1; rows <= 40; ++rows) compare_products(rows, kPack, draw(1, 40));
}

TEST_P(FastKernels, MultiplyAnyNumberOfColumns) {
  for (int columns = 1; columns <= kPack; ++columns) {
    compare_products(draw(1, 40), columns, draw(1, 40));
  }
}

TEST_P(FastKernels, MultiplyAtAnyDepth) {
  for (const int depth : {1, 2, 3, 15, 16, 17, 100, 255, 256, 300}) {
    compare_products(draw(1, 40), draw(1, kPack), depth);
  }
}

TEST_P(FastKernels, MultiplyAtNoDepthToZeroOrToWhatWasThere) {
  const Numbers b(kPack);
  Numbers overwritten(3 * kPack, kUntouched), added(3 * kPack, kUntouched);

  // In tiles: rows without any length cannot be told from those.
  Product product = {.a = b.data(),
                     .b = b.data(),
                     .dst = overwritten.data(),
                     .dst_row = kPack,
                     .rows = 3,
                     .depth = 0};
  product_kernels(fast_).product(product);
  product.dst = added.data();
  product.accumulate = true;
  product_kernels(fast_).product(product);

  EXPECT_THAT(overwritten, Each(0.0f));
  EXPECT_THAT(added, Each(kUntouched));
}

TEST_P(FastKernels, CopyRowsToATile) {
  for (int rows = 1; rows <= 20; ++rows) {
    for (const int depth : {1, 2, 3, 4, 5, 8, 16, 19}) {
      const auto src_row = static_cast<std::size_t>(depth + draw(0, 3));
      const Numbers src = numbers(rows * src_row);
      Numbers dst(static_cast<std::size_t>(rows) * depth + 1, kUntouched);
      product_kernels(fast_).rows_to_tile({src.data(), src_row, rows, depth, dst.data()});
      for (int i = 0; i < rows * depth; ++i) {
        ASSERT_EQ(dst[i], src[i % rows * src_row + i / rows]) << rows << " by " << depth;
      }
      ASSERT_EQ(dst.back(), kUntouched) << rows << " by " << depth;
    }
  }
}

TEST_P(FastKernels, CopyColumnsToATile) {
  for (int rows = 1; rows <= product_kernels(fast_).tile; ++rows) {
    for (const int depth : {1, 2, 5, 19}) {
      const auto src_row = static_cast<std::size_t>(rows + draw(0, 3));
      const Numbers src = numbers(depth * src_row);
      Numbers dst(static_cast<std::size_t>(rows) * depth + 1, kUntouched);
      product_kernels(fast_).columns_to_tile(
          {src.data(), src_row, rows, depth, dst.data()});
      for (int i = 0; i < rows * depth; ++i) {
        ASSERT_EQ(dst[i], src[i / rows * src_row + i % rows]) << rows << " by " << depth;
      }
      ASSERT_EQ(dst.back(), kUntouched) << rows << " by " << depth;
    }
  }
}

void FastKernels::compare_convolution_rows(int src_channels, int dst_channels) {
  ConvolutionRow row{};
  row.src_channels = src_channels;
  row.src_height = draw(1, 9), row.src_width = draw(1, 9);
  row.taps_high = draw(0, 5), row.taps_wide = draw(1, 5);
  row.clamp_min = toss() ? 0 : kNoClamp;
  // From wholly above and left of the source to wholly below and right.
  row.top = draw(-3 * row.taps_high, row.src_height);
  row.left = draw(-3 * row.taps_wide, row.src_width);
  row.stride = draw(1, 3);
  row.dilation_high = draw(1, 3), row.dilation_wide = draw(1, 3);
  row.dst_channels = dst_channels;
  row.columns = draw(1, 7);
  row.dst_column = static_cast<std::size_t>(draw(1, 3)) * kPack;
  row.dst_channel = row.columns * row.dst_column + static_cast<std::size_t>(draw(0, 20));
  const int taps = src_channels * row.taps_high * row.taps_wide;
  SCOPED_TRACE(testing::Message()
               << src_channels << " to " << dst_channels << " channels, "
               << row.src_height << " x " << row.src_width << " pixels, " << row.taps_high
               << " x " << row.taps_wide << " taps at " << row.top << ", " << row.left
               << ", stride " << row.stride);
  const Numbers src = numbers(static_cast<std::size_t>(src_channels) * row.src_height *
                              row.src_width * kPack);
  const Numbers weights = numbers(static_cast<std::size_t>(dst_channels) * taps);
  const Numbers bias = numbers(static_cast<std::size_t>(dst_channels));
  row.src = src.data();
  row.bias = toss() ? bias.data() : nullptr;

  const auto run = [&](KernelSet set) {
    const Numbers tiled = in_tiles(set, weights, dst_channels, taps);
    Numbers dst(dst_channels * row.dst_channel, kUntouched);
    ConvolutionRow own = row;
    own.weights = tiled.data();
    own.dst = dst.data();
    convolution_kernels(set).row(own);
    return dst;
  };
  compare(run);
}

TEST_P(FastKernels, ConvolveFromAnyNumberOfChannels) {
  for (int channels = 1; channels <= 33; ++channels) {
    compare_convolution_rows(channels, draw(1, 5));
  }
}

TEST_P(FastKernels, ConvolveToAnyNumberOfChannels) {
  for (int channels = 1; channels <= 33; ++channels) {
    compare_convolution_rows(draw(1, 3), channels);
  }
}

TEST_P(FastKernels, ConvolveWhereverTheWindowLies) {
  for (int i = 0; i < 150; ++i) compare_convolution_rows(draw(1, 3), draw(1, 3));
}

void FastKernels::compare_convolution_weights(int src_channels, int dst_channels,
                                              int height, int width) {
  ConvolutionWeights w{};
  w.stride_high = draw(1, 3), w.stride_wide = draw(1, 3);
  w.dilation_high = draw(1, 3), w.dilation_wide = draw(1, 3);
  w.taps_high = draw(1, 5), w.taps_wide = draw(1, 5);
  w.src_channels = src_channels, w.dst_channels = dst_channels;
  w.dst_height = height, w.dst_width = width;
  // Rows and columns may be left over.
  const int high = (w.taps_high - 1) * w.dilation_high + 1;
  const int wide = (w.taps_wide - 1) * w.dilation_wide + 1;
  w.src_height = (height - 1) * w.stride_high + high + draw(0, w.stride_high - 1);
  w.src_width = (width - 1) * w.stride_wide + wide + draw(0, w.stride_wide - 1);
  SCOPED_TRACE(testing::Message()
               << src_channels << " to " << dst_channels << " channels, " << height
               << " x " << width << " pixels, " << w.taps_high << " x " << w.taps_wide
               << " taps, stride " << w.stride_high << " x " << w.stride_wide
               << ", dilation " << w.dilation_high << " x " << w.dilation_wide);
  const Numbers src = numbers(static_cast<std::size_t>(src_channels) * w.src_height *
                              w.src_width * kPack);
  const Numbers gradient =
      numbers(static_cast<std::size_t>(dst_channels) * height * width * kPack);
  w.src = src.data();
  w.dst_gradient = gradient.data();

  const auto run = [&](KernelSet set) {
    Numbers result(static_cast<std::size_t>(dst_channels) * src_channels * w.taps_high *
                       w.taps_wide +
                   1);
    result.assign(result.size(), kUntouched);
    ConvolutionWeights own = w;
    own.gradient = result.data();
    convolution_kernels(set).weights(own);
    return result;
  };
  compare(run);
}

TEST_P(FastKernels, TakeWeightGradientsOfAnyNumberOfChannels) {
  for (int channels = 1; channels <= 33; channels += 2) {
    compare_convolution_weights(channels, draw(1, 4), draw(1, 4), draw(1, 4));
    compare_convolution_weights(draw(1, 4), channels, draw(1, 4), draw(1, 4));
  }
}

TEST_P(FastKernels, TakeWeightGradientsOfAnyImage) {
  for (int i = 0; i < 20; ++i) {
    compare_convolution_weights(draw(1, 2), draw(1, 5), draw(1, 12), draw(1, 12));
  }
  compare_convolution_weights(1, 5, 35, 33);
  compare_convolution_weights(1, 1, 1, 35);
  compare_convolution_weights(1, 4, 35, 1);
}

// More taps than a call keeps sums for at once.
TEST_P(FastKernels, TakeWeightGradientsOfALargeKernel) {
  constexpr int kTaps = 9, kSide = 11, kPixels = 3;
  const Numbers src = numbers(kSide * kSide * kPack);
  const Numbers gradient = numbers(2 * kPixels * kPixels * kPack);

  const auto run = [&](KernelSet set) {
    Numbers result(2 * kTaps * kTaps, kUntouched);
    convolution_kernels(set).weights({src.data(), 1, kSide, kSide, kTaps, kTaps,
                                      /*strides=*/1, 1, gradient.data(), 2, kPixels,
                                      kPixels, result.data()});
    return result;
  };

  compare(run);
}

TEST_P(FastKernels, PoolAnyWindowWithTheFirstOfEquals) {
  for (int i = 0; i < 120; ++i) {
    const int window = draw(1, 4), stride = draw(1, 4), columns = draw(1, 9);
    const int high = toss() ? window : draw(1, 4);
    const int width = (columns - 1) * stride + window + draw(0, 2);
    const auto count = static_cast<std::size_t>(width) * high * kPack;
    const Numbers src = toss() ? numbers(count) : coarse_numbers(count);
    const PoolRow row = {.src = src.data(),
                         .src_row = static_cast<std::size_t>(width) * kPack,
                         .window = window,
                         .stride = stride,
                         .columns = columns,
                         .clamp_min = toss() ? 0 : kNoClamp,
                         .dst = nullptr,
                         .argmax = nullptr,
                         .window_high = high == window ? 0 : high};

    EXPECT_EQ(pool(fast_, row), pool(plain_, row)) << window << ", stride " << stride;
  }
}

TEST_P(FastKernels, UnpoolAnyWindow) {
  for (int i = 0; i < 120; ++i) {
    const bool accumulate = toss();
    const int window = draw(1, 4), columns = draw(1, 9);
    const int high = toss() ? window : draw(1, 4);
    const int stride = draw(accumulate ? 1 : window, 5);  // without, no window overlaps
    const int width = (columns - 1) * stride + window + draw(0, 2);
    const Numbers gradient = numbers(static_cast<std::size_t>(columns) * kPack);
    std::vector<std::uint8_t> argmax(gradient.size());
    for (std::uint8_t& choice : argmax) {
      choice = static_cast<std::uint8_t>(draw(0, high * window - 1));
    }
    const Numbers before = numbers(static_cast<std::size_t>(width) * high * kPack);

    const auto run = [&](KernelSet set) {
      Numbers src_gradient = before;
      pool_kernels(set).unpool_row({.dst_gradient = gradient.data(),
                                    .argmax = argmax.data(),
                                    .window = window,
                                    .stride = stride,
                                    .columns = columns,
                                    .accumulate = accumulate,
                                    .src_gradient = src_gradient.data(),
                                    .src_row = static_cast<std::size_t>(width) * kPack,
                                    .window_high = high == window ? 0 : high});
      return src_gradient;
    };

    EXPECT_EQ(run(fast_), run(plain_)) << window << ", stride " << stride;
  }
}

TEST_P(FastKernels, DrawTheSameImages) {
  // The second crosses from one word of the blocks' number to the next.
  for (const std::size_t first : {std::size_t{0}, (std::size_t{1} << 31) - 5}) {
    for (const std::uint32_t threshold : {0u, 1u, 16384u, 65535u, 65536u}) {
      const RandomStream random(7, RngStream::dropout, 3, 5);
      const auto rows = static_cast<std::size_t>(draw(1, 40));
      const auto run = [&](KernelSet set) {
        std::vector<std::uint16_t> kept(rows + 1, 0xABCD);
        dropout_kernels(set).draw({random, first, rows, threshold, kept.data()});
        return kept;
      };

      EXPECT_EQ(run(fast_), run(plain_)) << rows << " rows, threshold " << threshold;
    }
  }
}

TEST_P(FastKernels, ScaleWhatIsKept) {
  for (std::size_t rows = 0; rows <= 20; ++rows) {
    Numbers src = numbers(rows * kPack);
    if (rows > 0) src[rows] = std::numeric_limits<float>::quiet_NaN();
    std::vector<std::uint16_t> kept(rows);
    for (std::uint16_t& bits : kept) bits = static_cast<std::uint16_t>(random_());
    const auto run = [&](KernelSet set) {
      Numbers dst(src.size() + 1, kUntouched);
      dropout_kernels(set).scale({src.data(), kept.data(), rows, 1.25f, dst.data()});
      return bits_of(dst);
    };

    EXPECT_EQ(run(fast_), run(plain_)) << rows << " rows";
  }
}

TEST_P(FastKernels, AddABiasToEachRow) {
  for (int rows = 1; rows <= 9; ++rows) {
    for (const float clamp_min : {0.0f, kNoClamp}) {
      const Numbers before = numbers(static_cast<std::size_t>(rows) * kPack + 1);
      const Numbers bias = numbers(static_cast<std::size_t>(rows));
      Numbers fast = before, plain = before;

      epilogue_kernels(fast_).add_bias({fast.data(), bias.data(), rows, clamp_min});
      epilogue_kernels(plain_).add_bias({plain.data(), bias.data(), rows, clamp_min});

      EXPECT_EQ(fast, plain) << rows << " rows";
    }
  }
}

TEST_P(FastKernels, MaskBySignAtAnySize) {
  for (std::size_t size = 0; size <= 70; ++size) {
    const Numbers before = numbers(size + 1), activation = coarse_numbers(size + 1);
    Numbers fast = before, plain = before;

    epilogue_kernels(fast_).mask_by_sign({fast.data(), activation.data(), size});
    epilogue_kernels(plain_).mask_by_sign({plain.data(), activation.data(), size});

    EXPECT_EQ(fast, plain) << "size " << size;
  }
}

TEST_P(FastKernels, AddMoments) {
  for (std::size_t pixels = 0; pixels <= 200; pixels += 7) {
    const Numbers src = numbers(pixels * kPack);
    const auto run = [&](KernelSet set) {
      std::vector<double> sums(2 * kPack, 0.1);
      batch_norm_kernels(set).add_moments(
          {src.data(), src.size(), /*around=*/0.3f, sums.data(), sums.data() + kPack});
      return sums;
    };

    EXPECT_EQ(run(fast_), run(plain_)) << pixels << " pixels";
  }
}

TEST_P(FastKernels, AddNormSums) {
  for (std::size_t pixels = 0; pixels <= 200; pixels += 7) {
    const Numbers src = numbers(pixels * kPack), gradient = numbers(pixels * kPack);
    const auto run = [&](KernelSet set) {
      std::vector<double> sums(2 * kPack, 0.1);
      batch_norm_kernels(set).add_sums({gradient.data(), src.data(), src.size(),
                                        /*mean=*/0.3f, sums.data(), sums.data() + kPack});
      return sums;
    };

    EXPECT_EQ(run(fast_), run(plain_)) << pixels << " pixels";
  }
}

TEST_P(FastKernels, ScaleAndShift) {
  for (std::size_t pixels = 0; pixels <= 9; ++pixels) {
    const Numbers src = numbers(pixels * kPack), residual = numbers(pixels * kPack);
    for (const float clamp_min : {0.0f, kNoClamp}) {
      for (const float* added : {static_cast<const float*>(nullptr), residual.data()}) {
        compare([&](KernelSet set) {
          Numbers dst(src.size() + 1, kUntouched);
          epilogue_kernels(set).scale_shift({.src = src.data(),
                                             .scale = -1.3f,
                                             .shift = 0.2f,
                                             .residual = added,
                                             .clamp_min = clamp_min,
                                             .dst = dst.data(),
                                             .size = src.size()});
          return dst;
        });
      }
    }
  }
}

TEST_P(FastKernels, NormGradientOfTheImagesThatAreReal) {
  for (int images = 1; images <= kPack; ++images) {
    const Numbers src = numbers(5 * kPack), gradient = numbers(5 * kPack);
    compare([&](KernelSet set) {
      Numbers dst(src.size() + 1, kUntouched);
      batch_norm_kernels(set).gradient({.gradient = gradient.data(),
                                        .src = src.data(),
                                        .size = src.size(),
                                        .mean = 0.3f,
                                        .from_gradient = 1.1f,
                                        .from_source = -0.7f,
                                        .constant = 0.05f,
                                        .images = images,
                                        .dst = dst.data()});
      return dst;
    });
  }
}

TEST_P(FastKernels, Sum) {
  for (std::size_t size = 0; size <= 35 * kPack; size += kPack) {
    const Numbers values = numbers(size);

    compare([&](KernelSet set) {
      return Numbers{epilogue_kernels(set).sum(values.data(), size)};
    });
  }
}

INSTANTIATE_TEST_SUITE_P(InstructionSets, FastKernels,
                         testing::ValuesIn(fast_kernel_sets()),
                         [](const auto& info) { return name_of(info.param); });

TEST(KernelTiles, AreAsEvenAsPossible) {
  const Tiles tiles(16, 6);

  EXPECT_EQ(tiles.count, 3);
  EXPECT_EQ(tiles.size(0), 6);
  EXPECT_EQ(tiles.size(1), 5);
  EXPECT_EQ(tiles.size(2), 5);
  EXPECT_EQ(tiles.begin(3), 16);
}

}  // namespace
}  // namespace convoy
