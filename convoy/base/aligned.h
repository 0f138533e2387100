// SPDX-License-Identifier: Apache-2.0
//
// AlignedBuffer: fixed-size memory for numbers, aligned to a cache line and initialized
// to zero. A large buffer is aligned to a huge page and asks the system for huge pages.

#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

#include "convoy/base/large_pages.h"

namespace convoy {

inline constexpr std::size_t kCacheLine = 64;

template <class T>
class AlignedBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  AlignedBuffer() = default;

  /// Throws std::bad_alloc if memory cannot be allocated.
  explicit AlignedBuffer(std::size_t size)
      : data_(static_cast<T*>(::operator new(size * sizeof(T), alignment(size))),
              Free{alignment(size)}),
        size_(size) {
    void* memory = data_.get();
    const std::size_t bytes = size * sizeof(T);
    if (bytes >= kLarge) prefer_large_pages(memory, bytes / kLargePage * kLargePage);
    std::memset(memory, 0, bytes);
  }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data_.get()[i]; }
  const T& operator[](std::size_t i) const { return data_.get()[i]; }
  std::span<T> span() { return {data(), size_}; }
  std::span<const T> span() const { return {data(), size_}; }

 private:
  static constexpr std::size_t kLarge = 2 * kLargePage;

  static std::align_val_t alignment(std::size_t size) {
    return std::align_val_t{size * sizeof(T) >= kLarge ? kLargePage : kCacheLine};
  }

  struct Free {
    void operator()(T* p) const { ::operator delete(p, alignment); }

    std::align_val_t alignment{kCacheLine};
  };

  std::unique_ptr<T, Free> data_;
  std::size_t size_ = 0;
};

}  // namespace convoy
