// SPDX-License-Identifier: Apache-2.0
//
// Stored: the numbers of an activation or of its gradient, as they lie in the arena:
// fp32, or fp16 or bf16 in half the memory. All arithmetic is of fp32, so numbers of 16
// bits are widened where they are read and rounded where they are written, a piece at a
// time, in a thread's scratch memory. With fp32 a piece is read and written in place.
//
//   const float* x = src.read(from, size, buffer_a);  // in place, or widened into
//   buffer_a float* y = dst.target(from, buffer_b);            // in place, or buffer_b
//   kernel({x, y, size});
//   dst.store(from, size, y);                         // nothing, or rounded into dst

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "convoy/base/error.h"
#include "convoy/base/float16.h"

namespace convoy {

class Stored {
 public:
  Stored() = default;
  Stored(float* numbers) : data_(numbers) {}
  Stored(void* data, Dtype dtype) : data_(data), dtype_(dtype) {}

  Dtype dtype() const { return dtype_; }
  bool is_fp32() const { return dtype_ == Dtype::fp32; }
  /// Whether there are none: a gradient that is not needed.
  bool operator==(std::nullptr_t) const { return data_ == nullptr; }

  /// The numbers in place. Requires: fp32.
  operator float*() const {
    if (!is_fp32()) check(false, "numbers that are used in place are fp32");
    return static_cast<float*>(data_);
  }
  /// The same of 16 bits.
  std::uint16_t* halves() const {
    if (is_fp32()) check(false, "numbers of 16 bits are not fp32");
    return static_cast<std::uint16_t*>(data_);
  }

  /// `count` numbers from number `from` on: in place, or widened into `buffer`.
  const float* read(std::size_t from, std::size_t count, float* buffer) const {
    return edit(from, count, buffer);
  }
  /// The same, to be changed; store() makes the change last.
  float* edit(std::size_t from, std::size_t count, float* buffer) const {
    if (is_fp32()) return *this + from;
    copy_to(from, count, buffer);
    return buffer;
  }
  void copy_to(std::size_t from, std::size_t count, float* to) const {
    if (is_fp32()) {
      std::copy_n(*this + from, count, to);
    } else {
      widen(dtype_, halves() + from, to, count);
    }
  }
  float at(std::size_t index) const {
    float number = 0;
    return *read(index, 1, &number);
  }

  /// Where numbers from number `from` on are to be written before they are stored: in
  /// place, or in `buffer`.
  float* target(std::size_t from, float* buffer) const {
    return is_fp32() ? *this + from : buffer;
  }
  /// Stores what was written where target() or edit() said.
  void store(std::size_t from, std::size_t count, const float* written) const {
    if (!is_fp32()) narrow(dtype_, written, halves() + from, count);
  }
  /// Stores numbers that lie elsewhere.
  void copy_from(const float* numbers, std::size_t count, std::size_t to) const {
    if (is_fp32()) {
      std::copy_n(numbers, count, *this + to);
    } else {
      narrow(dtype_, numbers, halves() + to, count);
    }
  }

  /// Calls work(pointer) with the numbers as they are: of float, or of std::uint16_t.
  /// Zero is zero in both.
  template <class Work>
  void visit(const Work& work) const {
    if (is_fp32()) {
      work(static_cast<float*>(data_));
    } else {
      work(halves());
    }
  }
  void fill_zeros(std::size_t from, std::size_t count) const {
    visit([&](auto* numbers) {
      std::fill_n(numbers + from, count, std::remove_pointer_t<decltype(numbers)>{});
    });
  }

 private:
  void* data_ = nullptr;
  Dtype dtype_ = Dtype::fp32;
};

/// How many numbers of 16 bits are widened at a time where any number would do: a few
/// pieces stay in the first-level cache.
inline constexpr std::size_t kPieceFloats = 1024;

/// A buffer for them on the stack.
struct alignas(64) Piece {
  float numbers[kPieceFloats];
};

/// Calls work(from, size) for the pieces of [from, from + size): one, where activations
/// are fp32.
template <class Work>
void for_pieces(Dtype activations, std::size_t from, std::size_t size, const Work& work) {
  const std::size_t most = activations == Dtype::fp32 ? size : kPieceFloats;
  for (std::size_t i = 0; i < size; i += most) work(from + i, std::min(most, size - i));
}

}  // namespace convoy
