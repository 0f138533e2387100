// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/statistics.h"

#include <array>
#include <cmath>
#include <cstdint>

#include "convoy/base/error.h"

namespace convoy {
namespace {

std::array<std::uint64_t, 256> histogram(const std::vector<std::uint8_t>& bytes) {
  std::array<std::uint64_t, 256> bins{};
  for (const std::uint8_t byte : bytes) ++bins[byte];
  return bins;
}

}  // namespace

PixelMoments pixel_moments(const Dataset& data) {
  check(!data.images.empty(), "a dataset has pixels");
  const auto bins = histogram(data.images);
  std::uint64_t sum = 0, squares = 0;
  for (std::uint64_t value = 0; value < bins.size(); ++value) {
    sum += bins[value] * value;
    squares += bins[value] * value * value;
  }
  // n * squares - sum * sum does not fit 64 bits for 47 million pixels.
  using Wide = unsigned __int128;
  const std::uint64_t n = data.images.size();
  const Wide spread = Wide{n} * squares - Wide{sum} * sum;
  const double scale = 255.0 * static_cast<double>(n);
  return {static_cast<double>(sum) / scale,
          std::sqrt(static_cast<double>(spread)) / scale};
}

std::vector<std::size_t> class_counts(const Dataset& data) {
  std::vector<std::size_t> counts(data.classes.size());
  for (const std::uint8_t label : data.labels) ++counts[label];
  return counts;
}

}  // namespace convoy
