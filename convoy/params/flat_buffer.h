// SPDX-License-Identifier: Apache-2.0
//
// FlatBuffer: the numbers of a layout: values, gradients, or optimizer state.
//
// Offsets are those of the layout, even if only a range of it is used, as on one of
// several parameter servers: memory is allocated where numbers are written, and
// keep_only() releases the rest.

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
  /// All numbers are zero, including padding, and take no memory until they are written.
  explicit FlatBuffer(const Layout& layout) : numbers_(layout.size()) {}

  float* data() { return numbers_.data(); }
  const float* data() const { return numbers_.data(); }
  std::size_t size() const { return numbers_.size(); }
  std::span<const float> numbers() const { return numbers_.span(); }

  /// Sets all other numbers to zero and releases their memory.
  void keep_only(Range range) { numbers_.keep_only(range); }

  /// Sets these numbers to zero and releases their memory.
  void release(Range range) { numbers_.release(range); }

  /// Asks for small pages where only a part of the range is written.
  void prefer_small_pages(Range range) { numbers_.prefer_small_pages(range); }

  std::span<float> view(Range range) {
    return numbers_.span().subspan(range.begin, range.size());
  }
  std::span<const float> view(Range range) const {
    return numbers_.span().subspan(range.begin, range.size());
  }

 private:
  LazyBuffer numbers_;
};

/// A trained network: its parameters and running statistics, borrowed.
struct Weights {
  const FlatBuffer& values;
  const FlatBuffer& statistics;
};

/// Hashes the numbers of every segment, in the layout's order, without padding.
inline void add_to_digest(const Layout& layout, const FlatBuffer& numbers,
                          Sha256& digest) {
  for (const Segment& segment : layout.segments()) {
    digest.add(std::as_bytes(numbers.view(segment.range)));
  }
}

/// As above, of one unit.
inline void add_to_digest(const Layout& layout, UnitId unit, const FlatBuffer& numbers,
                          Sha256& digest) {
  for (const Segment& segment : layout.segments()) {
    if (segment.unit == unit) digest.add(std::as_bytes(numbers.view(segment.range)));
  }
}

/// SHA-256 over all parameters: two runs with the same digest ended at the same bits.
inline std::string weights_sha256(const Layout& layout, const FlatBuffer& values) {
  Sha256 digest;
  add_to_digest(layout, values, digest);
  return digest.hex();
}

/// As above, for a network with running statistics, which follow the parameters.
inline std::string weights_sha256(const Layout& layout, const FlatBuffer& values,
                                  const Layout& statistics_layout,
                                  const FlatBuffer& statistics) {
  Sha256 digest;
  add_to_digest(layout, values, digest);
  add_to_digest(statistics_layout, statistics, digest);
  return digest.hex();
}

}  // namespace convoy
