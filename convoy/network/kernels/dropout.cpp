// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/kernels/dropout.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "convoy/network/kernels/reference_arithmetic.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "convoy/network/kernels/dropout.cpp"
#include "convoy/network/kernels/targets.h"

#if CONVOY_VECTORS
#include "convoy/network/kernels/arithmetic_inl.h"

HWY_BEFORE_NAMESPACE();
namespace convoy {
namespace HWY_NAMESPACE {

/// One bit per image: whether its sixteen random bits are at least the threshold.
HWY_INLINE std::uint16_t bits_at_least(std::uint32_t threshold,
                                       const std::uint16_t* random) {
  const IndexTag d;
  const auto less = hn::Set(d, static_cast<std::int32_t>(threshold) - 1);
  unsigned kept = 0;
  for (int v = 0; v < kPack; v += kWidth) {
    const hn::Rebind<std::uint16_t, D> narrow;
    const auto numbers = hn::PromoteTo(d, hn::LoadU(narrow, random + v));
    std::uint8_t bits[8] = {};
    hn::StoreMaskBits(d, hn::Gt(numbers, less), bits);
    kept |= (bits[0] | unsigned{bits[1]} << 8) << v;
  }
  return static_cast<std::uint16_t>(kept);
}

static_assert(std::endian::native == std::endian::little, "lower halves come first");

// Philox (base/random.h) for several blocks at once. Each 64-bit lane holds a word in its
// lower half; the upper half may hold anything, since products do not read it.
using WordTag = hn::CappedTag<std::uint64_t, kPack / 2>;
using Words = hn::Vec<WordTag>;
constexpr int kBlocks = static_cast<int>(hn::MaxLanes(WordTag()));

HWY_INLINE Words times_word(Words word, std::uint32_t factor) {
  const hn::Repartition<std::uint32_t, WordTag> d;
  return hn::MulEven(hn::BitCast(d, word), hn::Set(d, factor));
}

/// Blocks from number `first` on, one after the other.
HWY_INLINE void philox_blocks(const RandomStream& random, std::uint64_t first,
                              std::uint64_t* HWY_RESTRICT dst) {
  const WordTag d;
  const auto word = [&](std::uint32_t value) HWY_ATTR { return hn::Set(d, value); };
  const std::array<std::uint32_t, 4> counter = random.counter(0);
  const Words index = hn::Add(hn::Set(d, first), hn::Iota(d, 0));
  Words a = index, b = hn::Or(hn::ShiftRight<32>(index), word(counter[1]));
  Words c = word(counter[2]), e = word(counter[3]);
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const auto [key_b, key_e] = random.key(round);
    const Words from_a = times_word(a, kPhiloxFactors[0]);
    const Words from_c = times_word(c, kPhiloxFactors[1]);
    a = hn::Xor(hn::ShiftRight<32>(from_c), hn::Xor(b, word(key_b)));
    c = hn::Xor(hn::ShiftRight<32>(from_a), hn::Xor(e, word(key_e)));
    b = from_c;
    e = from_a;
  }
  const Words lower = word(0xFFFFFFFF);
  hn::StoreInterleaved2(hn::Or(hn::And(a, lower), hn::ShiftLeft<32>(b)),
                        hn::Or(hn::And(c, lower), hn::ShiftLeft<32>(e)), d, dst);
}

void draw_kept(const DrawKept& draw) {
  constexpr std::size_t kRows = kBlocks / 2;
  for (std::size_t row = 0; row < draw.rows; row += kRows) {
    std::uint64_t blocks[2 * kBlocks];
    philox_blocks(draw.random, 2 * (draw.first + row), blocks);
    std::uint16_t bits[kRows * kPack];
    std::memcpy(bits, blocks, sizeof bits);
    for (std::size_t i = 0; i < std::min(kRows, draw.rows - row); ++i) {
      draw.kept[row + i] = bits_at_least(draw.threshold, bits + i * kPack);
    }
  }
}

void scale_kept(const ScaleKept& work) {
  const D d;
  const IndexTag indices;
  const V factor = hn::Set(d, work.factor);
  for (std::size_t row = 0; row < work.rows; ++row) {
    const auto bits = hn::Set(indices, std::int32_t{work.kept[row]});
    for (int v = 0; v < kPack; v += kWidth) {
      const auto image = hn::Shl(hn::Set(indices, 1), hn::Iota(indices, v));
      const auto kept = hn::RebindMask(d, hn::TestBit(bits, image));
      const std::size_t at = row * kPack + static_cast<std::size_t>(v);
      hn::StoreU(hn::Mul(hn::LoadU(d, work.src + at), hn::IfThenElseZero(kept, factor)),
                 d, work.dst + at);
    }
  }
}

const DropoutKernels kDropout = {draw_kept, scale_kept};

}  // namespace HWY_NAMESPACE
}  // namespace convoy
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace convoy::reference {
namespace {

void draw_kept(const DrawKept& draw) {
  for (std::size_t i = 0; i < draw.rows; ++i) {
    unsigned kept = 0;
    for (unsigned image = 0; image < kPack; ++image) {
      const std::uint64_t word = (draw.first + i) * (kPack / 2) + image / 2;
      const std::uint32_t bits = draw.random.word(word) >> (image % 2 * 16) & 0xFFFF;
      kept |= (bits >= draw.threshold ? 1u : 0u) << image;
    }
    draw.kept[i] = static_cast<std::uint16_t>(kept);
  }
}

void scale_kept(const ScaleKept& work) {
  for (std::size_t i = 0; i < work.rows * kPack; ++i) {
    const bool kept = (work.kept[i / kPack] >> (i % kPack) & 1) != 0;
    work.dst[i] = work.src[i] * (kept ? work.factor : 0);
  }
}

}  // namespace

const DropoutKernels kDropout = {draw_kept, scale_kept};

}  // namespace convoy::reference

CONVOY_KERNELS_OF(DropoutKernels, dropout_kernels, kDropout)
#endif
