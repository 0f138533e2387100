// SPDX-License-Identifier: Apache-2.0

#include "convoy/events/crc32c.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

namespace convoy {
namespace {

/// 0, 1, 2 ... 31
std::string rising() {
  std::string bytes(32, '\0');
  std::iota(bytes.begin(), bytes.end(), '\0');
  return bytes;
}

TEST(Crc32c, IsThatOfTheVectorsInRfc3720) {
  std::string falling = rising();
  std::ranges::reverse(falling);

  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43U);
  EXPECT_EQ(crc32c(rising()), 0x46DD794EU);
  EXPECT_EQ(crc32c(falling), 0x113FDB5CU);
}

TEST(Crc32c, IsThatOfTheCheckValue) { EXPECT_EQ(crc32c("123456789"), 0xE3069283U); }

TEST(Crc32c, OfNothingIsZero) { EXPECT_EQ(crc32c(""), 0U); }

TEST(Crc32c, IsMaskedByATurnAndAnAddition) {
  const std::uint32_t plain = 0xE3069283U;
  EXPECT_EQ(masked_crc32c("123456789"), ((plain >> 15) | (plain << 17)) + 0xA282EAD8U);
  EXPECT_EQ(masked_crc32c(""), 0xA282EAD8U);
}

}  // namespace
}  // namespace convoy
