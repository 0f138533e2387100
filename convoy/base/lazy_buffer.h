// SPDX-License-Identifier: Apache-2.0
//
// LazyBuffer: address space for numbers, all zero at first. Memory is taken where they
// are written, page by page, and can be given back:
//
//   |  zero, no memory  |  written  |  zero, no memory  |
//   0                   begin     end               size()
//
// Much of it begins at a large page, and asks for those.

#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "convoy/base/range.h"

namespace convoy {

class LazyBuffer {
 public:
  /// Throws std::bad_alloc when there is no address space.
  explicit LazyBuffer(std::size_t size);
  ~LazyBuffer();
  LazyBuffer(LazyBuffer&& other) noexcept { *this = std::move(other); }
  LazyBuffer& operator=(LazyBuffer&& other) noexcept;

  float* data() { return data_; }
  const float* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::span<float> span() { return {data_, size_}; }
  std::span<const float> span() const { return {data_, size_}; }

  /// Gives back the memory of all other numbers, which are zero then: of whole pages, so
  /// numbers next to the range may stay.
  void keep_only(Range range);

 private:
  void give_back(std::size_t begin, std::size_t end);

  void* mapped_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  float* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace convoy
