// SPDX-License-Identifier: Apache-2.0

#include "convoy/events/crc32c.h"

#include <array>

namespace convoy {
namespace {

constexpr std::uint32_t kPolynomial = 0x82F63B78;  // bit-reversed
constexpr std::uint32_t kMask = 0xA282EAD8;

using Table = std::array<std::uint32_t, 256>;

/// The effect of a byte that is shifted out of the register.
constexpr Table make_table() {
  Table table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) {
      rest = (rest >> 1) ^ ((rest & 1) != 0 ? kPolynomial : 0);
    }
    table[byte] = rest;
  }
  return table;
}

constexpr Table kTable = make_table();

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t rest = ~0U;
  for (const char c : bytes) {
    rest = (rest >> 8) ^ kTable[(rest ^ static_cast<unsigned char>(c)) & 0xFF];
  }
  return ~rest;
}

std::uint32_t masked_crc32c(std::string_view bytes) {
  const std::uint32_t plain = crc32c(bytes);
  return ((plain >> 15) | (plain << 17)) + kMask;
}

}  // namespace convoy
