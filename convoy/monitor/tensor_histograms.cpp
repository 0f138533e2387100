// SPDX-License-Identifier: Apache-2.0

#include "convoy/monitor/tensor_histograms.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace convoy {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Extent {
  double least = kInfinity, most = -kInfinity;
};

Extent extent_of(std::span<const float> numbers) {
  Extent extent;
  for (const double number : numbers) {
    if (!std::isfinite(number)) continue;
    extent.least = std::min(extent.least, number);
    extent.most = std::max(extent.most, number);
  }
  return extent.least <= extent.most ? extent : Extent{0, 0};
}

}  // namespace

nlohmann::ordered_json histogram_json(std::span<const float> numbers) {
  const Extent extent = extent_of(numbers);
  const double width = extent.most - extent.least;
  std::vector<std::uint64_t> counts(kHistogramParts);
  for (const double number : numbers) {
    if (!std::isfinite(number)) continue;
    const double part = width > 0 ? (number - extent.least) / width : 0;
    const auto at = static_cast<std::size_t>(part * kHistogramParts);
    ++counts[std::min(at, kHistogramParts - 1)];
  }
  return {{"least", extent.least}, {"most", extent.most}, {"counts", counts}};
}

void TensorHistograms::add_weights(UnitId unit, const FlatBuffer& values) {
  for (const Segment& segment : layout_.segments()) {
    if (segment.unit == unit) add("weights/" + segment.name, values.view(segment.range));
  }
}

void TensorHistograms::add_gradients(UnitId unit, const FlatBuffer& gradients) {
  for (const Segment& segment : layout_.segments()) {
    if (segment.unit != unit || !segment.trained) continue;
    add("gradients/" + segment.name, gradients.view(segment.range));
  }
}

void TensorHistograms::add(const std::string& name, std::span<const float> numbers) {
  json_[name] = histogram_json(numbers);
  events_.histogram(name, step_, numbers);
}

}  // namespace convoy
