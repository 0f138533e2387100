// SPDX-License-Identifier: Apache-2.0
//
// Numbers of 16 bits: fp16 (IEEE's half) and bf16 (the upper half of an fp32).
//
//          sign  exponent  fraction   largest      smallest normal
//   fp16   1     5         10         65504        2^-14
//   bf16   1     8         7          3.39e38      2^-126
//
// To narrow is to round to the nearest, of two equally near ones to the even one. What is
// too large becomes infinite; subnormal numbers are kept, whatever the thread does with
// those of fp32; not-a-number keeps its sign and its upper bits, and is quiet. To widen
// is exact.

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace convoy {

/// How a number is stored.
enum class Dtype { fp32, fp16, bf16 };

constexpr std::size_t bytes_of(Dtype dtype) { return dtype == Dtype::fp32 ? 4 : 2; }

constexpr const char* name_of(Dtype dtype) {
  return dtype == Dtype::fp32 ? "fp32" : dtype == Dtype::fp16 ? "fp16" : "bf16";
}

namespace float16 {

inline constexpr std::uint32_t kInfinity = 0x7F800000;

/// bits / 2^shift, rounded to the nearest, ties to even. Requires: shift >= 1.
constexpr std::uint32_t shifted(std::uint32_t bits, std::uint32_t shift) {
  return (bits + (1u << (shift - 1)) - 1 + (bits >> shift & 1)) >> shift;
}

/// The fp16 of a magnitude below fp16's smallest normal number: so many times 2^-24.
constexpr std::uint32_t subnormal_fp16(std::uint32_t magnitude) {
  const std::uint32_t shift = 126 - (magnitude >> 23);
  return shift > 24 ? 0 : shifted((magnitude & 0x7FFFFF) | 0x800000, shift);
}

constexpr std::uint32_t fp16_of_magnitude(std::uint32_t magnitude) {
  if (magnitude > kInfinity) return 0x7E00 | (magnitude >> 13 & 0x3FF);
  if (magnitude >= 0x477FF000) return 0x7C00;  // halfway between 65504 and 2^16
  if (magnitude < 0x38800000) return subnormal_fp16(magnitude);
  return shifted(magnitude - (112u << 23), 13);
}

}  // namespace float16

constexpr std::uint16_t to_fp16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits >> 16 & 0x8000) |
                                    float16::fp16_of_magnitude(bits & 0x7FFFFFFF));
}

constexpr float from_fp16(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16, magnitude = bits & 0x7FFFu;
  std::uint32_t wide = (magnitude << 13) + (112u << 23);
  if (magnitude < 0x400) {
    const float units = static_cast<float>(magnitude);
    wide = std::bit_cast<std::uint32_t>(units * 0x1p-24f);
  } else if (magnitude >= 0x7C00) {
    wide = float16::kInfinity | magnitude << 13 | (magnitude > 0x7C00 ? 0x400000u : 0u);
  }
  return std::bit_cast<float>(sign | wide);
}

constexpr std::uint16_t to_bf16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const bool nan = (bits & 0x7FFFFFFF) > float16::kInfinity;
  const std::uint32_t rounded = bits + 0x7FFF + (bits >> 16 & 1);
  return static_cast<std::uint16_t>((nan ? bits | 0x400000 : rounded) >> 16);
}

constexpr float from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

/// The nearest number that the type has, as fp32.
constexpr float round_to(Dtype dtype, float value) {
  if (dtype == Dtype::fp16) return from_fp16(to_fp16(value));
  return dtype == Dtype::bf16 ? from_bf16(to_bf16(value)) : value;
}

/// The same of arrays, in vectors where the processor has them. The bits are those of the
/// functions above. Requires: src and dst do not overlap; a type of 16 bits.
void widen(Dtype dtype, const std::uint16_t* src, float* dst, std::size_t count);
void narrow(Dtype dtype, const float* src, std::uint16_t* dst, std::size_t count);

/// Rounds to the nearest numbers that the type has; to those of fp32, changes nothing.
void round_in_place(Dtype dtype, float* values, std::size_t count);

}  // namespace convoy
