// SPDX-License-Identifier: Apache-2.0
//
// PartialSums: one rank's part of a sum over all micro-batches.
//
// There is one buffer per complete sub-tree of micro-batches that the rank computed, in
// micro-batch order. The last of them also receives the sum over all ranks: with one rank
// it is the sum.

#pragma once

#include <utility>
#include <vector>

#include "convoy/params/flat_buffer.h"

namespace convoy {

/// Borrows the buffers.
class PartialSums {
 public:
  /// Requires: at least one buffer, all of one layout.
  explicit PartialSums(std::vector<FlatBuffer*> buffers) : buffers_(std::move(buffers)) {}

  std::size_t count() const { return buffers_.size(); }
  FlatBuffer& whole() const { return *buffers_.back(); }

  /// Returns where a range begins in each buffer.
  std::vector<const float*> starts(Range range) const {
    std::vector<const float*> found;
    for (const FlatBuffer* buffer : buffers_)
      found.push_back(buffer->data() + range.begin);
    return found;
  }

 private:
  std::vector<FlatBuffer*> buffers_;
};

}  // namespace convoy
