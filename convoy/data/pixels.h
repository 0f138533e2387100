// SPDX-License-Identifier: Apache-2.0
//
// Pixels: the numbers of images, all of them bytes or all of them floats.
//
// A byte from 0 to 255 stands for a number from 0 to 1; a float is the number itself, of
// any size.

#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/data/shared_array.h"

namespace convoy {

class Pixels {
 public:
  Pixels() = default;

  // Not explicit: a vector or a list is what pixels are written as.
  Pixels(SharedBytes bytes) : numbers_(std::move(bytes)) {}
  Pixels(SharedFloats floats) : numbers_(std::move(floats)) {}
  Pixels(std::vector<std::uint8_t> bytes) : numbers_(SharedBytes(std::move(bytes))) {}
  Pixels(std::vector<float> floats) : numbers_(SharedFloats(std::move(floats))) {}
  Pixels(std::initializer_list<std::uint8_t> bytes) : numbers_(SharedBytes(bytes)) {}

  bool are_bytes() const { return std::holds_alternative<SharedBytes>(numbers_); }

  /// Calls `use` with a span of bytes or of floats.
  template <class Use>
  decltype(auto) visit(const Use& use) const {
    return std::visit(
        [&](const auto& numbers) -> decltype(auto) { return use(span_of(numbers)); },
        numbers_);
  }

  /// Requires: are_bytes().
  const SharedBytes& bytes() const {
    check(are_bytes(), "pixels are bytes");
    return std::get<SharedBytes>(numbers_);
  }

  /// Requires: not are_bytes().
  const SharedFloats& floats() const {
    check(!are_bytes(), "pixels are floats");
    return std::get<SharedFloats>(numbers_);
  }

  /// How many numbers they are, and how much memory.
  std::size_t size() const {
    return visit([](auto numbers) { return numbers.size(); });
  }
  std::size_t memory_bytes() const {
    return visit([](auto numbers) { return numbers.size_bytes(); });
  }

  bool operator==(const Pixels&) const = default;

 private:
  template <class Number>
  static std::span<const Number> span_of(const SharedArray<Number>& numbers) {
    return numbers;
  }

  std::variant<SharedBytes, SharedFloats> numbers_;
};

}  // namespace convoy
