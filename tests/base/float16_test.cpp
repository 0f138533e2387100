// SPDX-License-Identifier: Apache-2.0

#include "convoy/base/float16.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <limits>
#include <numeric>
#include <thread>
#include <vector>

#include "convoy/system/cpu.h"

namespace convoy {
namespace {

constexpr int kPatterns = 1 << 16;
constexpr Dtype kSixteenBits[] = {Dtype::fp16, Dtype::bf16};

std::uint32_t word_of(float value) { return std::bit_cast<std::uint32_t>(value); }
float from_word(std::uint32_t bits) { return std::bit_cast<float>(bits); }

std::uint16_t narrowed(Dtype dtype, float value) {
  return dtype == Dtype::fp16 ? to_fp16(value) : to_bf16(value);
}
float widened(Dtype dtype, std::uint16_t bits) {
  return dtype == Dtype::fp16 ? from_fp16(bits) : from_bf16(bits);
}

/// What sign, exponent and fraction say, in double precision.
double value_by_formula(std::uint16_t bits, int fraction_bits, int bias) {
  const int exponent = (bits & 0x7FFF) >> fraction_bits;
  const double fraction = std::ldexp(bits & ((1 << fraction_bits) - 1), -fraction_bits);
  const double magnitude = exponent == 0 ? std::ldexp(fraction, 1 - bias)
                                         : std::ldexp(1 + fraction, exponent - bias);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

/// Numbers of every size and kind: all upper halves, each with lower halves that decide
/// how it is rounded, and random ones.
std::vector<float> numbers_of_every_kind() {
  std::vector<float> numbers;
  for (std::uint32_t upper = 0; upper < kPatterns; ++upper) {
    for (const std::uint32_t lower : {0x0u, 0x1u, 0x7FFFu, 0x8000u, 0x8001u}) {
      numbers.push_back(from_word(upper << 16 | lower));
    }
  }
  for (std::uint32_t bits = 0; bits < kPatterns; ++bits) {
    numbers.push_back(from_word(bits * 0x9E3779B9u));
    numbers.push_back(from_word(0x38000000u + bits * 0x1000u));
  }
  return numbers;
}

/// Other tests may have made this thread flush denormals.
class Float16 : public testing::Test {
 protected:
  Float16() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~Float16() override { std::fesetenv(&before_); }

 private:
  std::fenv_t before_{};
};

TEST_F(Float16, EveryFiniteFp16IsWhatItsFieldsSay) {
  for (int i = 0; i < kPatterns; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    if ((bits & 0x7C00) == 0x7C00) continue;
    ASSERT_EQ(from_fp16(bits), value_by_formula(bits, 10, 15)) << i;
  }
}

TEST_F(Float16, EveryFiniteBf16IsWhatItsFieldsSay) {
  for (int i = 0; i < kPatterns; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    if ((bits & 0x7F80) == 0x7F80) continue;
    ASSERT_EQ(from_bf16(bits), value_by_formula(bits, 7, 127)) << i;
  }
}

TEST_F(Float16, EveryPatternComesBackFromFp32) {
  for (const Dtype dtype : kSixteenBits) {
    for (int i = 0; i < kPatterns; ++i) {
      const auto bits = static_cast<std::uint16_t>(i);
      const float wide = widened(dtype, bits);
      // Not-a-number becomes quiet.
      const int quiet = !std::isnan(wide) ? 0 : dtype == Dtype::fp16 ? 0x200 : 0x40;
      ASSERT_EQ(narrowed(dtype, wide), bits | quiet) << name_of(dtype) << ' ' << i;
    }
  }
}

/// Between each number and the next: below the middle goes down, above it up, and the
/// middle to the even one.
TEST_F(Float16, RoundsToTheNearestAndTiesToEven) {
  for (const Dtype dtype : kSixteenBits) {
    const int infinity = dtype == Dtype::fp16 ? 0x7C00 : 0x7F80;
    for (int i = 0; i + 1 < infinity; ++i) {
      const auto low = static_cast<std::uint16_t>(i),
                 high = static_cast<std::uint16_t>(i + 1);
      const double middle =
          std::midpoint<double>(widened(dtype, low), widened(dtype, high));
      const auto tie = static_cast<float>(middle);
      ASSERT_EQ(tie, middle);
      ASSERT_EQ(narrowed(dtype, tie), i % 2 == 0 ? low : high) << i;
      ASSERT_EQ(narrowed(dtype, std::nextafter(tie, 0.0f)), low) << i;
      ASSERT_EQ(narrowed(dtype, std::nextafter(tie, INFINITY)), high) << i;
      ASSERT_EQ(narrowed(dtype, -tie), (i % 2 == 0 ? low : high) | 0x8000) << i;
    }
  }
}

TEST_F(Float16, WhatIsTooLargeBecomesInfinite) {
  EXPECT_EQ(to_fp16(65504.0f), 0x7BFF);
  EXPECT_EQ(to_fp16(std::nextafter(65520.0f, 0.0f)), 0x7BFF);
  EXPECT_EQ(to_fp16(65520.0f), 0x7C00);
  EXPECT_EQ(to_fp16(-1e30f), 0xFC00);
  EXPECT_EQ(to_bf16(from_word(0x7F7F7FFF)), 0x7F7F);
  EXPECT_EQ(to_bf16(std::numeric_limits<float>::max()), 0x7F80);
  EXPECT_EQ(to_bf16(-std::numeric_limits<float>::max()), 0xFF80);
}

TEST_F(Float16, InfinityAndNotANumberStayWhatTheyAre) {
  for (const Dtype dtype : kSixteenBits) {
    const float infinity = std::numeric_limits<float>::infinity();
    EXPECT_EQ(round_to(dtype, infinity), infinity);
    EXPECT_EQ(round_to(dtype, -infinity), -infinity);
    // The payloads of these lie in the bits that are cut off.
    for (const std::uint32_t bits : {0x7F800001u, 0xFF800001u, 0x7FC00000u}) {
      EXPECT_TRUE(std::isnan(round_to(dtype, from_word(bits)))) << std::hex << bits;
      EXPECT_EQ(std::signbit(round_to(dtype, from_word(bits))), bits >> 31 == 1);
    }
  }
}

TEST_F(Float16, SubnormalNumbersAreKept) {
  EXPECT_EQ(to_fp16(0x1p-24f), 1);
  EXPECT_EQ(to_fp16(0x1p-25f), 0);  // a tie
  EXPECT_EQ(to_fp16(std::nextafter(0x1p-25f, 1.0f)), 1);
  EXPECT_EQ(to_fp16(-0x1p-30f), 0x8000);
  EXPECT_EQ(from_fp16(0x3FF), 1023 * 0x1p-24f);
  EXPECT_EQ(word_of(from_bf16(1)), 0x10000u);
  EXPECT_EQ(to_bf16(from_word(0x18000)), 2);
}

TEST_F(Float16, RoundingToFp32ChangesNothing) {
  EXPECT_EQ(round_to(Dtype::fp32, 1 / 3.0f), 1 / 3.0f);
  EXPECT_EQ(bytes_of(Dtype::fp32), 4u);
  EXPECT_EQ(bytes_of(Dtype::bf16), 2u);
}

/// Compares the arrays' functions with the single numbers'.
void expect_arrays_as_single_numbers() {
  const std::vector<float> numbers = numbers_of_every_kind();
  // A length that leaves a rest.
  const std::size_t count = numbers.size() - 3;
  for (const Dtype dtype : kSixteenBits) {
    std::vector<std::uint16_t> narrow_ones(numbers.size(), 0xABCD);
    narrow(dtype, numbers.data(), narrow_ones.data(), count);
    std::vector<float> wide_ones(numbers.size(), 5), rounded = numbers;
    widen(dtype, narrow_ones.data(), wide_ones.data(), count);
    round_in_place(dtype, rounded.data(), count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint16_t expected = narrowed(dtype, numbers[i]);
      ASSERT_EQ(narrow_ones[i], expected) << name_of(dtype) << ' ' << word_of(numbers[i]);
      ASSERT_EQ(word_of(wide_ones[i]), word_of(widened(dtype, expected))) << expected;
      ASSERT_EQ(word_of(rounded[i]), word_of(wide_ones[i])) << expected;
    }
    EXPECT_EQ(narrow_ones[count], 0xABCD);
    EXPECT_EQ(wide_ones[count], 5);
    EXPECT_EQ(word_of(rounded[count]), word_of(numbers[count]));
  }
}

TEST_F(Float16, ArraysHaveTheBitsOfSingleNumbers) { expect_arrays_as_single_numbers(); }

TEST_F(Float16, ArraysHaveThoseBitsInThreadsThatFlushDenormals) {
  std::thread([] {
    flush_denormals();
    expect_arrays_as_single_numbers();
  }).join();
}

TEST_F(Float16, EveryPatternIsWidenedInArrays) {
  std::vector<std::uint16_t> patterns(kPatterns);
  std::iota(patterns.begin(), patterns.end(), std::uint16_t{0});
  for (const Dtype dtype : kSixteenBits) {
    std::vector<float> wide(patterns.size());
    widen(dtype, patterns.data(), wide.data(), wide.size());
    for (const std::uint16_t bits : patterns) {
      ASSERT_EQ(word_of(wide[bits]), word_of(widened(dtype, bits))) << bits;
    }
  }
}

}  // namespace
}  // namespace convoy
