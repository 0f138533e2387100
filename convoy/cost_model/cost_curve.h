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

  /// A straight line between points; below the first as the first; beyond the last as
  /// steep as before it. Zero if nothing was measured.
  double at(double bytes) const;

  /// What the smallest measured message takes: all of it is latency.
  double least() const { return points_.empty() ? 0 : points_.front().seconds; }

  const std::vector<CostPoint>& points() const { return points_; }
  bool operator==(const CostCurve&) const = default;

 private:
  std::vector<CostPoint> points_;
};

}  // namespace convoy
