// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "convoy/base/text.h"
#include "convoy/system/memory.h"

namespace convoy {

InputError bad_data(const std::string& where, const std::string& found,
                    const std::string& expected, const std::string& hint) {
  return {InputKind::data,
          {.where = where, .found = found, .expected = expected, .hint = hint}};
}

void expect_room_for(unsigned __int128 bytes, const std::string& where) {
  const std::uint64_t available = available_memory_bytes();
  if (bytes <= available) return;
  constexpr unsigned __int128 kMost = std::numeric_limits<std::uint64_t>::max();
  const auto shown = static_cast<std::uint64_t>(std::min(bytes, kMost));
  throw InputError(InputKind::storage,
                   {.where = where,
                    .found = "images of " + human_bytes(shown),
                    .expected = "at most " + human_bytes(available) + ", the free memory",
                    .hint = ""});
}

std::vector<std::uint8_t> room_for(unsigned __int128 bytes, const std::string& where) {
  expect_room_for(bytes, where);
  return std::vector<std::uint8_t>(static_cast<std::size_t>(bytes));
}

std::string to_text(const Shape& shape) {
  return fmt::format("{} x {} x {}", shape.channels, shape.height, shape.width);
}

}  // namespace convoy
