// SPDX-License-Identifier: Apache-2.0
//
// SharedArray: numbers that never change, in memory of their own or in a mapped file.
//
// A copy is a second view of the same numbers; they live as long as the last one.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace convoy {

template <class Number>
class SharedArray : public std::span<const Number> {
  using View = std::span<const Number>;

 public:
  using const_iterator = typename View::iterator;  // as containers have it

  SharedArray() = default;

  // Not explicit: a vector or a list is what numbers are written as.
  SharedArray(std::vector<Number> numbers)
      : SharedArray(std::make_shared<const std::vector<Number>>(std::move(numbers))) {}
  SharedArray(std::initializer_list<Number> numbers)
      : SharedArray(std::vector<Number>(numbers)) {}

  /// `numbers`, which `owner` keeps alive.
  SharedArray(View numbers, std::shared_ptr<const void> owner)
      : View(numbers), owner_(std::move(owner)) {}

  bool operator==(const SharedArray& other) const {
    return std::ranges::equal(*this, other);
  }

 private:
  explicit SharedArray(const std::shared_ptr<const std::vector<Number>>& owner)
      : SharedArray(View(*owner), owner) {}

  std::shared_ptr<const void> owner_;
};

using SharedBytes = SharedArray<std::uint8_t>;
using SharedFloats = SharedArray<float>;
using SharedLabels = SharedArray<std::int32_t>;

}  // namespace convoy
