// SPDX-License-Identifier: Apache-2.0

#include "convoy/cost_model/cost_curve.h"

#include <algorithm>
#include <utility>

#include "convoy/base/error.h"

namespace convoy {

CostCurve::CostCurve(std::vector<CostPoint> points) : points_(std::move(points)) {
  for (std::size_t i = points_.size(); i-- > 1;) {
    check(points_[i - 1].bytes < points_[i].bytes, "sizes ascend");
    points_[i - 1].seconds = std::min(points_[i - 1].seconds, points_[i].seconds);
  }
}

double CostCurve::at(double bytes) const {
  const auto below = [&](const CostPoint& point) {
    return static_cast<double>(point.bytes) < bytes;
  };
  const auto after = std::ranges::partition_point(points_, below);
  if (after == points_.begin() || points_.size() == 1) return least();
  const CostPoint& right = after == points_.end() ? points_.back() : *after;
  const CostPoint& left = *(after == points_.end() ? after - 2 : after - 1);
  const double steep =
      (right.seconds - left.seconds) / static_cast<double>(right.bytes - left.bytes);
  return left.seconds + steep * (bytes - static_cast<double>(left.bytes));
}

}  // namespace convoy
