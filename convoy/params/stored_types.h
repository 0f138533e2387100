// SPDX-License-Identifier: Apache-2.0
//
// StoredTypes: the type in which each number of a layout is stored and sent.
//
// In 16 bits, the scales and shifts of norms stay fp32:
//
//   | conv.weight  conv.bias | norm.weight  norm.bias | fc.weight ...
//   |         fp16           |          fp32          |   fp16
//
// In memory, numbers are fp32 anyway, and those of a 16-bit type have values that the
// type has. pack() makes of a range what is sent: its numbers end to end, each in its
// type.

#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "convoy/base/float16.h"
#include "convoy/base/range.h"
#include "convoy/params/layout.h"

namespace convoy {

/// Writes numbers in a type, end to end, and reads them. Requires: numbers that the type
/// has, and an even address.
void pack(Dtype dtype, std::span<const float> numbers, std::byte* packed);
void unpack(Dtype dtype, const std::byte* packed, std::span<float> numbers);

class StoredTypes {
 public:
  /// All numbers are fp32.
  StoredTypes() = default;
  /// All numbers are of this type, but the parameters of norms, which are fp32.
  StoredTypes(const Layout& layout, Dtype dtype);

  /// Of everything but the parameters of norms.
  Dtype dtype() const { return dtype_; }
  Dtype of(const Segment& segment) const;

  /// Bytes of a packed range.
  std::size_t bytes(Range range) const;

  // `numbers` are those of the range.

  /// Rounds each number to its type.
  void round(Range range, float* numbers) const;
  /// Requires: rounded numbers, and space for bytes(range), at an even address.
  void pack(Range range, const float* numbers, std::byte* packed) const;
  void unpack(Range range, const std::byte* packed, float* numbers) const;

 private:
  template <class Work>
  void visit(Range range, const Work& work) const;

  Dtype dtype_ = Dtype::fp32;
  std::vector<Range> narrow_;  // of 16 bits, in order; none touches the next
};

}  // namespace convoy
