// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/kernels/point/lanes.h"

#include <algorithm>

#include "convoy/network/kernels/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "convoy/network/kernels/point/lanes.cpp"
#include "convoy/network/kernels/targets.h"

#if CONVOY_VECTORS
#include "convoy/network/kernels/arithmetic_inl.h"

HWY_BEFORE_NAMESPACE();
namespace convoy {
namespace HWY_NAMESPACE {

void join_lanes(const JoinLanes& work) {
  const D d;
  const bool both = work.before < kPack;
  for (int v = 0; v < kPack; v += kWidth) {
    const int before = std::clamp(work.before - v, 0, kWidth);
    const auto is_first = hn::FirstN(d, static_cast<std::size_t>(before));
    const float* second = both ? work.second - work.before : work.first;
    for (std::size_t i = 0; i < work.rows; ++i) {
      const std::size_t at = i * kPack + static_cast<std::size_t>(v);
      hn::StoreU(hn::IfThenElse(is_first, hn::LoadU(d, work.first + at),
                                hn::LoadU(d, second + at)),
                 d, work.dst + i * work.dst_row + v);
    }
  }
}

/// Four rows of a square, transposed within each four columns.
HWY_INLINE void transpose_fours(V (&rows)[4]) {
  const D d;
  const hn::Repartition<double, D> pairs;
  const auto as_pairs = [&](V v) HWY_ATTR { return hn::BitCast(pairs, v); };
  const auto lower = as_pairs(hn::InterleaveLower(d, rows[0], rows[1]));
  const auto upper = as_pairs(hn::InterleaveUpper(d, rows[0], rows[1]));
  const auto next_lower = as_pairs(hn::InterleaveLower(d, rows[2], rows[3]));
  const auto next_upper = as_pairs(hn::InterleaveUpper(d, rows[2], rows[3]));
  rows[0] = hn::BitCast(d, hn::InterleaveLower(pairs, lower, next_lower));
  rows[1] = hn::BitCast(d, hn::InterleaveUpper(pairs, lower, next_lower));
  rows[2] = hn::BitCast(d, hn::InterleaveLower(pairs, upper, next_upper));
  rows[3] = hn::BitCast(d, hn::InterleaveUpper(pairs, upper, next_upper));
}

/// Stores the blocks of four numbers that vectors have in common: block b of all of them
/// becomes row 4 * b of dst.
HWY_INLINE void store_blocks(const V (&rows)[kWidth / 4], float* dst) {
  const D d;
  if constexpr (kWidth == 4) {
    hn::StoreU(rows[0], d, dst);
  } else if constexpr (kWidth == 8) {
    hn::StoreU(hn::ConcatLowerLower(d, rows[1], rows[0]), d, dst);
    hn::StoreU(hn::ConcatUpperUpper(d, rows[1], rows[0]), d, dst + 4 * kPack);
  } else {
    const auto store_two = [&](V even, V odd, float* to) HWY_ATTR {
      hn::StoreU(hn::OddEvenBlocks(hn::SwapAdjacentBlocks(odd), even), d, to);
      hn::StoreU(hn::OddEvenBlocks(odd, hn::SwapAdjacentBlocks(even)), d, to + 4 * kPack);
    };
    store_two(hn::ConcatLowerLower(d, rows[2], rows[0]),
              hn::ConcatLowerLower(d, rows[3], rows[1]), dst);
    store_two(hn::ConcatUpperUpper(d, rows[2], rows[0]),
              hn::ConcatUpperUpper(d, rows[3], rows[1]), dst + 8 * kPack);
  }
}

/// Squares as wide as a vector. Whole vectors are stored: those that a product loads next
/// are there sooner than if they were put together from parts.
void transpose(const float* src, float* dst) {
  const D d;
  constexpr int kFours = kWidth / 4;
  for (int row = 0; row < kPack; row += kWidth) {
    for (int column = 0; column < kPack; column += kWidth) {
      V rows[kFours][4];
#pragma GCC unroll 4
      for (int four = 0; four < kFours; ++four) {
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) {
          rows[four][i] = hn::LoadU(d, src + (row + 4 * four + i) * kPack + column);
        }
        transpose_fours(rows[four]);
      }
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        V blocks[kFours];
#pragma GCC unroll 4
        for (int four = 0; four < kFours; ++four) blocks[four] = rows[four][i];
        store_blocks(blocks, dst + (column + i) * kPack + row);
      }
    }
  }
}

const LaneKernels kLanes = {join_lanes, transpose};

}  // namespace HWY_NAMESPACE
}  // namespace convoy
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace convoy::reference {
namespace {

void join_lanes(const JoinLanes& work) {
  for (std::size_t i = 0; i < work.rows; ++i) {
    float* dst = work.dst + i * work.dst_row;
    std::copy_n(work.first + i * kPack, work.before, dst);
    std::copy_n(work.second + i * kPack, kPack - work.before, dst + work.before);
  }
}

void transpose(const float* src, float* dst) {
  for (int i = 0; i < kPack * kPack; ++i) dst[i] = src[i % kPack * kPack + i / kPack];
}

}  // namespace

const LaneKernels kLanes = {join_lanes, transpose};

}  // namespace convoy::reference

CONVOY_KERNELS_OF(LaneKernels, lane_kernels, kLanes)
#endif
