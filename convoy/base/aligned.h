// SPDX-License-Identifier: Apache-2.0
//
// AlignedBuffer: fixed-size memory for numbers, aligned to a cache line and initialized
// to zero. The pages of a large buffer are huge if the system has such, and are allocated
// when they are written: a plan that is only printed takes no memory for them.

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
  explicit AlignedBuffer(std::size_t size) : size_(size) {
    const std::size_t bytes = size * sizeof(T);
    if (bytes >= kLarge) {
      pages_ = MappedPages(bytes);
      data_ = static_cast<T*>(pages_.data());
      return;
    }
    small_.reset(::operator new(bytes, kAlignment));
    data_ = static_cast<T*>(std::memset(small_.get(), 0, bytes));
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  std::span<T> span() { return {data(), size_}; }
  std::span<const T> span() const { return {data(), size_}; }

 private:
  static constexpr std::align_val_t kAlignment{kCacheLine};

  struct Free {
    void operator()(void* p) const { ::operator delete(p, kAlignment); }
  };

  std::unique_ptr<void, Free> small_;
  MappedPages pages_;  // of a large one
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace convoy
