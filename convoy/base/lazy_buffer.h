// SPDX-License-Identifier: Apache-2.0
//
// LazyBuffer: address space for numbers, all zero at first. Pages are allocated when they
// are written, and can be released:
//
//   |  zero, no memory  |  written  |  zero, no memory  |
//   0                   begin     end               size()
//
// A large buffer is aligned to a huge page and asks for huge pages.

#pragma once

#include <cstddef>
#include <span>

#include "convoy/base/large_pages.h"
#include "convoy/base/range.h"

namespace convoy {

class LazyBuffer {
 public:
  /// Throws std::bad_alloc if there is no address space.
  explicit LazyBuffer(std::size_t size);

  float* data() { return static_cast<float*>(pages_.data()); }
  const float* data() const { return static_cast<const float*>(pages_.data()); }
  std::size_t size() const { return size_; }
  std::span<float> span() { return {data(), size_}; }
  std::span<const float> span() const { return {data(), size_}; }

  /// Releases the memory of all other numbers, which become zero. Only whole pages are
  /// released, so numbers next to the range may keep their values.
  void keep_only(Range range);

  /// Releases the memory of these numbers, which become zero. Pages that they share with
  /// others stay.
  void release(Range range);

  /// Asks for small pages in a range that is to be released again in part, so that no
  /// memory is taken beside what is written.
  void prefer_small_pages(Range range);

 private:
  MappedPages pages_;
  std::size_t size_ = 0;
};

}  // namespace convoy
