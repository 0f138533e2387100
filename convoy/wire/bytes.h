// SPDX-License-Identifier: Apache-2.0
//
// Bytes: the content of a message; conversion of text to bytes.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace convoy {

using Bytes = std::vector<std::byte>;

inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline Bytes bytes_of(std::string_view text) {
  const auto view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

}  // namespace convoy
