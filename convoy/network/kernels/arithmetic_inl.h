// SPDX-License-Identifier: Apache-2.0
//
// What the fast kernels share: arithmetic of a vector, under the names that formulas use
// (math.inc, winograd_forms.inc), the sum of sixteen lanes, tiles of a constant size.
// Included once per target by every file of kernels.

HWY_BEFORE_NAMESPACE();
namespace convoy {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, kPack>;
using V = hn::Vec<D>;
using IndexTag = hn::Rebind<std::int32_t, D>;
using Bits = hn::Vec<IndexTag>;
constexpr int kWidth = static_cast<int>(hn::MaxLanes(D()));
constexpr int kVectors = kPack / kWidth;  // registers that hold one pixel of a pack

// Rows of a register tile: twelve sums hide the latency of two multiply-add pipes and
// leave room for the operands in sixteen registers.
constexpr int kTile = 12 / kVectors;

HWY_INLINE V number(float value) { return hn::Set(D(), value); }
HWY_INLINE V add(V a, V b) { return hn::Add(a, b); }
HWY_INLINE V sub(V a, V b) { return hn::Sub(a, b); }
HWY_INLINE V mul(V a, V b) { return hn::Mul(a, b); }
HWY_INLINE V div(V a, V b) { return hn::Div(a, b); }
/// a * b + c, rounded once.
HWY_INLINE V mul_add(V a, V b, V c) { return hn::MulAdd(a, b, c); }
HWY_INLINE V negated(V a) { return hn::Neg(a); }
HWY_INLINE V magnitude(V a) { return hn::Abs(a); }
/// a < b ? yes : no.
HWY_INLINE V if_less(V a, V b, V yes, V no) {
  return hn::IfThenElse(hn::Lt(a, b), yes, no);
}

HWY_INLINE Bits bits_of(V a) { return hn::BitCast(IndexTag(), a); }
HWY_INLINE V from_bits(Bits bits) { return hn::BitCast(D(), bits); }
HWY_INLINE Bits plus(Bits a, std::int32_t b) {
  return hn::Add(a, hn::Set(IndexTag(), b));
}
HWY_INLINE Bits minus(Bits a, Bits b) { return hn::Sub(a, b); }
HWY_INLINE Bits halved(Bits a) { return hn::ShiftRight<1>(a); }
HWY_INLINE Bits to_exponent(Bits a) { return hn::ShiftLeft<23>(a); }

/// The larger of both; not-a-number in `value` stays, as does its sign if both are zeros:
/// x86's instruction gives the second operand then, others do not.
HWY_INLINE V at_least(V clamp_min, V value) {
#if HWY_ARCH_X86
  return hn::Max(clamp_min, value);
#else
  return if_less(value, clamp_min, clamp_min, value);
#endif
}
HWY_INLINE V at_most(V clamp_max, V value) {
#if HWY_ARCH_X86
  return hn::Min(clamp_max, value);
#else
  return if_less(clamp_max, value, clamp_max, value);
#endif
}

/// a * 2^n, rounded once, with n given as a number and as bits: n is of -150 .. 128 and a
/// is about 1, or both are not-a-number. AVX-512 has an instruction for it; else it takes
/// two steps, of which the first is exact.
HWY_INLINE V times_power_of_two(V a, V n, Bits whole) {
#if HWY_TARGET == HWY_AVX3
  (void)whole;
  return V{_mm512_scalef_ps(a.raw, n.raw)};
#else
  (void)n;
  const Bits first = halved(whole);
  const V scaled = mul(a, from_bits(to_exponent(plus(first, 127))));
  return mul(scaled, from_bits(to_exponent(plus(minus(whole, first), 127))));
#endif
}

/// Sum of a vector's lanes: lane i and the one half the lanes further, again and again.
template <class Tag>
HWY_INLINE float sum_halves(Tag d, hn::Vec<Tag> lanes) {
  if constexpr (hn::MaxLanes(d) == 1) {
    return hn::GetLane(lanes);
  } else {
    const hn::Half<Tag> half;
    return sum_halves(half,
                      hn::Add(hn::LowerHalf(half, lanes), hn::UpperHalf(half, lanes)));
  }
}

/// Sum of sixteen lanes, one per image, in the one order that all instruction sets have:
/// lane i and lane i + 8, of these i and i + 4, then i + 2, then i + 1.
HWY_INLINE float sum_of_lanes(const V (&sums)[kVectors]) {
  V lanes[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) lanes[v] = sums[v];
#pragma GCC unroll 4
  for (int half = kVectors / 2; half > 0; half /= 2) {
#pragma GCC unroll 4
    for (int v = 0; v < half; ++v) lanes[v] = hn::Add(lanes[v], lanes[v + half]);
  }
  return sum_halves(D(), lanes[0]);
}

/// The same of sixteen aligned numbers.
HWY_INLINE float sum_of_lanes(const float* lanes) {
  V sums[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) sums[v] = hn::Load(D(), lanes + v * kWidth);
  return sum_of_lanes(sums);
}

/// Calls work with `value` (1 .. kMost) as a compile-time constant.
template <int kMost, class Work>
HWY_INLINE void with_constant(int value, const Work& work) {
  if constexpr (kMost > 1) {
    if (value < kMost) return with_constant<kMost - 1>(value, work);
  }
  work(std::integral_constant<int, kMost>());
}

}  // namespace HWY_NAMESPACE
}  // namespace convoy
HWY_AFTER_NAMESPACE();
