// SPDX-License-Identifier: Apache-2.0
//
// SharedBytes: immutable bytes, in memory or in a mapped file.
//
// A copy is a second view of the same bytes; they live as long as the last view.

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

class SharedBytes : public std::span<const std::uint8_t> {
  using View = std::span<const std::uint8_t>;

 public:
  using const_iterator = iterator;  // required of containers

  SharedBytes() = default;

  // Not explicit, so that a vector or a list can be passed as bytes.
  SharedBytes(std::vector<std::uint8_t> bytes)
      : SharedBytes(std::make_shared<const std::vector<std::uint8_t>>(std::move(bytes))) {
  }
  SharedBytes(std::initializer_list<std::uint8_t> bytes)
      : SharedBytes(std::vector<std::uint8_t>(bytes)) {}

  /// A view of `bytes`, which `owner` keeps alive.
  SharedBytes(View bytes, std::shared_ptr<const void> owner)
      : View(bytes), owner_(std::move(owner)) {}

  bool operator==(const SharedBytes& other) const {
    return std::ranges::equal(*this, other);
  }

 private:
  explicit SharedBytes(const std::shared_ptr<const std::vector<std::uint8_t>>& owner)
      : SharedBytes(View(*owner), owner) {}

  std::shared_ptr<const void> owner_;
};

}  // namespace convoy
