// SPDX-License-Identifier: Apache-2.0
//
// CostCurve: seconds as a function of bytes, measured at a few sizes.

#pragma once

#include <cstdint>
#include <vector>

namespace convoy {

struct CostPoint {
  std::uint64_t bytes = 0;
  double seconds = 0;

  bool operator==(const CostPoint&) const = default;
};

class CostCurve {
 public:
  CostCurve() = default;
  /// Requires: sizes ascend. A smaller size never takes longer, whatever was measured.
  explicit CostCurve(std::vector<CostPoint> points);

  /// Interpolates linearly between points; below the first point it returns the first,
  /// beyond the last it continues with the last slope. Returns zero if nothing was
  /// measured.
  double at(double bytes) const;

  /// Returns the time of the smallest measured message, which is all latency.
  double least() const { return points_.empty() ? 0 : points_.front().seconds; }

  const std::vector<CostPoint>& points() const { return points_; }
  bool operator==(const CostCurve&) const = default;

 private:
  std::vector<CostPoint> points_;
};

}  // namespace convoy
