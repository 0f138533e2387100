// SPDX-License-Identifier: Apache-2.0
//
// FlatBuffer: the numbers of a layout: values, gradients, or an optimizer's state.
//
// Offsets are those of the layout, also where only a range of it is used, as by one of
// several parameter servers: memory is taken where numbers are written, and keep_only()
// gives back the rest.

#pragma once

#include <span>
#include <string>

#include "convoy/base/lazy_buffer.h"
#include "convoy/base/range.h"
#include "convoy/base/sha256.h"
#include "convoy/params/layout.h"

namespace convoy {

class FlatBuffer {
 public:
  /// All zero, padding included, and without memory before they are written.
  explicit FlatBuffer(const Layout& layout) : numbers_(layout.size()) {}

  float* data() { return numbers_.data(); }
  const float* data() const { return numbers_.data(); }
  std::size_t size() const { return numbers_.size(); }
  std::span<const float> numbers() const { return numbers_.span(); }

  /// All others are zero from here on and take no memory.
  void keep_only(Range range) { numbers_.keep_only(range); }

  std::span<float> view(Range range) {
    return numbers_.span().subspan(range.begin, range.size());
  }
  std::span<const float> view(Range range) const {
    return numbers_.span().subspan(range.begin, range.size());
  }

 private:
  LazyBuffer numbers_;
};

/// What a trained network is: its parameters and running statistics, borrowed.
struct Weights {
  const FlatBuffer& values;
  const FlatBuffer& statistics;
};

/// Adds the numbers of every segment, in the layout's order, without padding.
inline void add_to_digest(const Layout& layout, const FlatBuffer& numbers,
                          Sha256& digest) {
  for (const Segment& segment : layout.segments()) {
    digest.add(std::as_bytes(numbers.view(segment.range)));
  }
}

/// SHA-256 over every parameter: two runs that end at the same digest ended at the same
/// bits.
inline std::string weights_sha256(const Layout& layout, const FlatBuffer& values) {
  Sha256 digest;
  add_to_digest(layout, values, digest);
  return digest.hex();
}

/// As above, of a network with running statistics: those come after the parameters.
inline std::string weights_sha256(const Layout& layout, const FlatBuffer& values,
                                  const Layout& statistics_layout,
                                  const FlatBuffer& statistics) {
  Sha256 digest;
  add_to_digest(layout, values, digest);
  add_to_digest(statistics_layout, statistics, digest);
  return digest.hex();
}

}  // namespace convoy
