// SPDX-License-Identifier: Apache-2.0

#include "convoy/base/float16.h"

#include "convoy/base/vector_clones.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#define CONVOY_WITH_F16C __attribute__((target("avx,f16c")))
#endif

namespace convoy {
namespace {

#if defined(__x86_64__)

bool find_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __builtin_cpu_supports("avx") != 0 && __get_cpuid(1, &a, &b, &c, &d) != 0 &&
         (c & bit_F16C) != 0;
}

/// Whether the processor converts fp16 in vectors. Its instructions round, keep
/// subnormals and not-a-number as to_fp16() and from_fp16() do.
bool has_f16c() {
  static const bool has = find_f16c();
  return has;
}

constexpr std::size_t kF16cWidth = 8;

/// Each returns how many numbers it has done: all but the last few.
CONVOY_WITH_F16C std::size_t widen_by_f16c(const std::uint16_t* src, float* dst,
                                           std::size_t count) {
  std::size_t i = 0;
  for (; i + kF16cWidth <= count; i += kF16cWidth) {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(src + i));
    _mm256_storeu_ps(dst + i, _mm256_cvtph_ps(bits));
  }
  return i;
}

CONVOY_WITH_F16C std::size_t narrow_by_f16c(const float* src, std::uint16_t* dst,
                                            std::size_t count) {
  std::size_t i = 0;
  for (; i + kF16cWidth <= count; i += kF16cWidth) {
    const __m128i bits =
        _mm256_cvtps_ph(_mm256_loadu_ps(src + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(dst + i), bits);
  }
  return i;
}

CONVOY_WITH_F16C std::size_t round_by_f16c(float* values, std::size_t count) {
  std::size_t i = 0;
  for (; i + kF16cWidth <= count; i += kF16cWidth) {
    const __m128i bits =
        _mm256_cvtps_ph(_mm256_loadu_ps(values + i), _MM_FROUND_TO_NEAREST_INT);
    _mm256_storeu_ps(values + i, _mm256_cvtph_ps(bits));
  }
  return i;
}

#else

bool has_f16c() { return false; }
std::size_t widen_by_f16c(const std::uint16_t*, float*, std::size_t) { return 0; }
std::size_t narrow_by_f16c(const float*, std::uint16_t*, std::size_t) { return 0; }
std::size_t round_by_f16c(float*, std::size_t) { return 0; }

#endif

CONVOY_WITH_AVX2 void widen_bf16(const std::uint16_t* __restrict src,
                                 float* __restrict dst, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) dst[i] = from_bf16(src[i]);
}

CONVOY_WITH_AVX2 void narrow_bf16(const float* __restrict src,
                                  std::uint16_t* __restrict dst, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) dst[i] = to_bf16(src[i]);
}

CONVOY_WITH_AVX2 void round_bf16(float* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) values[i] = from_bf16(to_bf16(values[i]));
}

}  // namespace

void widen(Dtype dtype, const std::uint16_t* src, float* dst, std::size_t count) {
  if (dtype == Dtype::bf16) return widen_bf16(src, dst, count);
  const std::size_t done = has_f16c() ? widen_by_f16c(src, dst, count) : 0;
  for (std::size_t i = done; i < count; ++i) dst[i] = from_fp16(src[i]);
}

void narrow(Dtype dtype, const float* src, std::uint16_t* dst, std::size_t count) {
  if (dtype == Dtype::bf16) return narrow_bf16(src, dst, count);
  const std::size_t done = has_f16c() ? narrow_by_f16c(src, dst, count) : 0;
  for (std::size_t i = done; i < count; ++i) dst[i] = to_fp16(src[i]);
}

void round_in_place(Dtype dtype, float* values, std::size_t count) {
  if (dtype == Dtype::fp32) return;
  if (dtype == Dtype::bf16) return round_bf16(values, count);
  const std::size_t done = has_f16c() ? round_by_f16c(values, count) : 0;
  for (std::size_t i = done; i < count; ++i) values[i] = from_fp16(to_fp16(values[i]));
}

}  // namespace convoy
