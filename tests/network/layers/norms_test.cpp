// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "convoy/network/kernels/point/local_response.h"
#include "convoy/network/layers/norm/group_norm.h"
#include "convoy/network/layers/norm/local_response_norm.h"
#include "convoy/network/layers/point/softmax.h"
#include "tests/network/double_layer.h"
#include "tests/network/kernel_tables.h"

namespace convoy {
namespace {

/// Calls work(number, channel) for the numbers of one group of one sample.
template <class Work>
void for_group(DoubleBatch& batch, int groups, std::size_t sample, int group,
               const Work& work) {
  const int channels = batch.shape.channels / groups;
  for (int row = 0; row < batch.shape.rows; ++row) {
    for (int c = group * channels; c < (group + 1) * channels; ++c) {
      for (int y = 0; y < batch.shape.height; ++y) {
        for (int x = 0; x < batch.shape.width; ++x) {
          const auto rows = static_cast<std::size_t>(batch.shape.rows);
          work(batch.at(sample * rows + static_cast<std::size_t>(row), c, y, x), c);
        }
      }
    }
  }
}

const DoubleLayer<GroupNorm> kGroupNorm("group_norm", [](const GroupNorm& layer,
                                                         const DoubleArguments& of) {
  DoubleBatch batch = of.first();
  for (std::size_t sample = 0; sample < batch.samples; ++sample) {
    for (int group = 0; group < layer.groups; ++group) {
      double count = 0, sum = 0, squares = 0;
      const auto all = [&](const auto& work) {
        for_group(batch, layer.groups, sample, group, work);
      };
      all([&](double value, int) { sum += value, ++count; });
      all([&](double value, int) { squares += std::pow(value - sum / count, 2); });
      const double deviation =
          std::sqrt(squares / count + static_cast<double>(layer.epsilon));
      all([&](double& value, int c) {
        value =
            (value - sum / count) / deviation * of.parameters[0][c] + of.parameters[1][c];
      });
    }
  }
  return batch;
});

/// Calls work(row, y, x) for every pixel of every row.
template <class Work>
void for_pixels(const DoubleBatch& batch, const Work& work) {
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    for (int y = 0; y < batch.shape.height; ++y) {
      for (int x = 0; x < batch.shape.width; ++x) work(row, y, x);
    }
  }
}

const DoubleLayer<LocalResponseNorm> kLocalResponseNorm(
    "local_response_norm", [](const LocalResponseNorm& layer, const DoubleArguments& of) {
      const DoubleBatch& src = of.first();
      DoubleBatch dst = src;
      for_pixels(src, [&](std::size_t row, int y, int x) {
        for (int c = 0; c < src.shape.channels; ++c) {
          double squares = 0;
          for (int other = c - layer.size / 2; other <= c + (layer.size - 1) / 2;
               ++other) {
            if (other < 0 || other >= src.shape.channels) continue;
            squares += std::pow(src.at(row, other, y, x), 2);
          }
          const double d = static_cast<double>(layer.k) +
                           static_cast<double>(layer.alpha) * squares / layer.size;
          dst.at(row, c, y, x) /= std::pow(d, static_cast<double>(layer.beta));
        }
      });
      return dst;
    });

const DoubleLayer<ChannelSoftmax> kChannelSoftmax(
    "softmax", [](const ChannelSoftmax&, const DoubleArguments& of) {
      DoubleBatch dst = of.first();
      for_pixels(of.first(), [&](std::size_t row, int y, int x) {
        double sum = 0;
        for (int c = 0; c < of.dst.channels; ++c) {
          sum += std::exp(of.first().at(row, c, y, x));
        }
        for (int c = 0; c < of.dst.channels; ++c) {
          dst.at(row, c, y, x) = std::exp(of.first().at(row, c, y, x)) / sum;
        }
      });
      return dst;
    });

class LocalResponseBits : public testing::TestWithParam<KernelSet>, public Draws {
 protected:
  /// Result and gradient, of channels that are further apart than they are long.
  static Numbers run(KernelSet set, const Numbers& src, const Numbers& gradient,
                     std::size_t channels, std::size_t pixels) {
    const std::size_t stride = src.size() / channels;
    const LocalResponseWindow window{2, 1, 0.75f, 1.5f, 0.75f};
    Numbers dst(src.size(), kUntouched), terms(src.size()), all(src.size(), kUntouched);
    local_response_kernels(set).normalize(
        {src.data(), channels, stride, pixels, window, dst.data()});
    local_response_kernels(set).gradient({src.data(), gradient.data(), channels, stride,
                                          pixels, window, terms.data(), all.data()});
    all.insert(all.end(), dst.begin(), dst.end());
    return all;
  }
};

TEST_P(LocalResponseBits, AreThoseOfTheReference) {
  for (int round = 0; round < 20; ++round) {
    const auto channels = static_cast<std::size_t>(draw(1, 9));
    const auto pixels = static_cast<std::size_t>(draw(1, 5));
    const std::size_t size = channels * (pixels + 1) * kPack;
    Numbers src = numbers(size);
    for (float& number : src) number *= 100;
    const Numbers gradient = numbers(size);
    ASSERT_EQ(bits_of(run(GetParam(), src, gradient, channels, pixels)),
              bits_of(run(KernelSet::reference, src, gradient, channels, pixels)));
  }
}

TEST_P(LocalResponseBits, PassNotANumberToItsNeighboursAlone) {
  Numbers src(8 * kPack, 1.0f);
  src[3 * kPack] = std::numeric_limits<float>::quiet_NaN();
  const Numbers found = run(GetParam(), src, Numbers(8 * kPack, 1.0f), 8, 1);
  // The window is of two channels before and one after.
  for (const std::size_t c : {2u, 3u, 4u, 5u}) {
    EXPECT_TRUE(std::isnan(found[(8 + c) * kPack])) << c;
  }
  EXPECT_FALSE(std::isnan(found[(8 + 1) * kPack]));
  EXPECT_FALSE(std::isnan(found[(8 + 6) * kPack]));
  EXPECT_FALSE(std::isnan(found[(8 + 3) * kPack + 1]));
}

INSTANTIATE_TEST_SUITE_P(InstructionSets, LocalResponseBits,
                         testing::ValuesIn(available_kernel_sets()),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace
}  // namespace convoy
