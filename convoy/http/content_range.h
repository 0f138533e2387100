// SPDX-License-Identifier: Apache-2.0
//
// ContentRange: what a server says about the part of a file that it sends.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace convoy {

struct ContentRange {
  std::optional<std::uint64_t> first{};  // the first byte of the part
  std::optional<std::uint64_t> total{};  // bytes of the whole file
};

/// Of a header "bytes 0-511/146515". What is not a number, as in "*/*", is missing, and a
/// number of more than 1e15.
ContentRange content_range(std::string_view header);

/// "bytes from 0, not from 1,048,576", about a part that was asked for from `offset` on.
/// Empty if it begins there.
std::string wrong_begin(const std::optional<std::uint64_t>& first, std::uint64_t offset);

}  // namespace convoy
