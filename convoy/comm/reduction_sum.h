// SPDX-License-Identifier: Apache-2.0
//
// ReductionSum: what the owner of a part adds in a reduction, and in which order.
//
// Every rank has some partial sums, of which it sends each owner the owner's part. The
// owner passes all of them to add(), chunk by chunk, in rank order.

#pragma once

#include <cstddef>
#include <span>

#include "convoy/base/float16.h"
#include "convoy/base/range.h"

namespace convoy {

class ReductionSum {
 public:
  virtual ~ReductionSum() = default;

  virtual int ranks() const = 0;

  /// The numbers of a rank's partials, among those of all ranks in rank order.
  virtual Range partials_of(int rank) const = 0;
  virtual std::size_t partials() const = 0;

  /// Adds the partials of one chunk, in the order of the reduction tree. `chunk` is where
  /// it lies in the range that is reduced, and `sum` receives its sum; `sum` may be one
  /// of the partials. Every sum is rounded to the type, which the partials have.
  /// Requires: as many partials as partials(), each as long as `sum`.
  virtual void add_chunk(std::span<const float* const> partials, Range chunk,
                         std::span<float> sum, Dtype dtype) const = 0;
};

/// Computes sum[i] = left[i] + right[i], rounded to the type. `sum` may be one of the
/// two, but must not overlap them otherwise.
void add_pair(const float* left, const float* right, std::size_t count, float* sum,
              Dtype dtype = Dtype::fp32);

}  // namespace convoy
