// SPDX-License-Identifier: Apache-2.0
//
// PartialSums: one rank's part of a sum over all micro-batches.
//
// There is one buffer per complete sub-tree of micro-batches that the rank computed, in
// micro-batch order. The last of them also receives the sum over all ranks: with one rank
// it is the sum. If sums are of a 16-bit type, every node of the tree of sums is rounded
// to it, on whichever rank it is added, and the leaves are: numbers are sent in 16 bits.

#pragma once

#include <utility>
#include <vector>

#include "convoy/base/float16.h"
#include "convoy/params/flat_buffer.h"

namespace convoy {

/// Borrows the buffers.
class PartialSums {
 public:
  /// Requires: at least one buffer, all of one layout.
  explicit PartialSums(std::vector<FlatBuffer*> buffers, Dtype dtype = Dtype::fp32)
      : buffers_(std::move(buffers)), dtype_(dtype) {}

  std::size_t count() const { return buffers_.size(); }
  FlatBuffer& whole() const { return *buffers_.back(); }
  Dtype dtype() const { return dtype_; }

  /// Returns where a range begins in each buffer.
  std::vector<const float*> starts(Range range) const {
    std::vector<const float*> found;
    for (const FlatBuffer* buffer : buffers_)
      found.push_back(buffer->data() + range.begin);
    return found;
  }

 private:
  std::vector<FlatBuffer*> buffers_;
  Dtype dtype_;
};

}  // namespace convoy
