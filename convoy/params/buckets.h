// SPDX-License-Identifier: Apache-2.0
//
// Buckets: adjacent units whose gradients are exchanged in one operation, in the order in
// which backward completes them.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convoy/base/range.h"

namespace convoy {

struct UnitBucket {
  Range units;
  std::uint64_t bytes = 0;

  bool operator==(const UnitBucket&) const = default;
};

/// Groups units from the last to the first: as soon as a bucket has `bucket_bytes` of
/// gradients, the next one begins. Units without gradients are left out.
inline std::vector<UnitBucket> cut_into_buckets(
    std::span<const std::uint64_t> bytes_by_unit, std::uint64_t bucket_bytes) {
  std::vector<UnitBucket> buckets;
  for (std::size_t unit = bytes_by_unit.size(); unit-- > 0;) {
    if (bytes_by_unit[unit] == 0) continue;
    if (buckets.empty() || buckets.back().bytes >= bucket_bytes) {
      buckets.push_back({.units = {unit, unit + 1}});
    }
    buckets.back().units.begin = unit;
    buckets.back().bytes += bytes_by_unit[unit];
  }
  return buckets;
}

}  // namespace convoy
