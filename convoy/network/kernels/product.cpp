// SPDX-License-Identifier: Apache-2.0
//
// A tile of kTile x 16 sums stays in registers while k runs: for each k, one broadcast
// per row and sixteen numbers of b. After kChain of them the sums are added to dst, so
// that roundings do not add up over thousands. GCC keeps an array in registers only if
// every loop over it is unrolled in full; without the pragmas each multiply-add is
// followed by a store.

#include "convoy/network/kernels/product.h"

#include <algorithm>
#include <cmath>

#include "convoy/network/kernels/bf16/bf16_product.h"
#include "convoy/network/kernels/reference_arithmetic.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "convoy/network/kernels/product.cpp"
#include "convoy/network/kernels/targets.h"

#if CONVOY_VECTORS
#include "convoy/network/kernels/arithmetic_inl.h"

HWY_BEFORE_NAMESPACE();
namespace convoy {
namespace HWY_NAMESPACE {

/// The left operand in tiles, as rows of a matrix, and as its columns.
template <int kRows>
struct TiledLeft {
  explicit TiledLeft(const float* tile, const Product&) : tile(tile) {}
  float at(int i, std::size_t k) const { return tile[k * kRows + i]; }

  const float* HWY_RESTRICT tile;
};

template <int kRows>
struct RowsLeft {
  RowsLeft(const float* first, const Product& p) {
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) rows[i] = first + i * p.a_row;
  }
  float at(int i, std::size_t k) const { return rows[i][k]; }

  const float* rows[kRows];
};

/// Rows that are sixteen numbers each: one register points at all of them.
template <int kRows>
struct PackRowsLeft {
  PackRowsLeft(const float* first, const Product&) : first(first) {}
  float at(int i, std::size_t k) const { return first[i * kPack + k]; }

  const float* HWY_RESTRICT first;
};

template <int kRows>
struct ColumnsLeft {
  ColumnsLeft(const float* first, const Product& p) : first(first), stride(p.a_stride) {}
  float at(int i, std::size_t k) const { return first[k * stride + i]; }

  const float* HWY_RESTRICT first;
  std::size_t stride;
};

template <int kRows, template <int> class Left>
HWY_INLINE void product_tile(const Product& p, const float* a, const float* ahead,
                             float* HWY_RESTRICT dst) {
  const D d;
  // Prefetches for a caller that continues with the next sixteen columns.
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) hwy::Prefetch(dst + i * p.dst_row + kPack);
  const auto depth = static_cast<std::size_t>(p.depth);
  bool accumulate = p.accumulate;
  std::size_t begin = 0;
  do {
    const std::size_t end = std::min(begin + kChain, depth);
    V sums[kRows][kVectors];
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sums[i][v] = hn::Zero(d);
    }
    for (int piece = 0; piece < p.pieces; ++piece) {
      const Left<kRows> left(a + piece * p.a_piece, p);
      const float* HWY_RESTRICT b = p.b + piece * p.b_piece + begin * kPack;
      const float* next = ahead + piece * p.b_piece + begin * kPack;
#pragma GCC unroll 4
      for (std::size_t k = begin; k < end; ++k, b += kPack, next += kPack) {
        hwy::Prefetch(next);
        V row[kVectors];
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) row[v] = hn::LoadU(d, b + v * kWidth);
#pragma GCC unroll 16
        for (int i = 0; i < kRows; ++i) {
          const V factor = hn::Set(d, left.at(i, k));
#pragma GCC unroll 4
          for (int v = 0; v < kVectors; ++v) {
            sums[i][v] = hn::MulAdd(factor, row[v], sums[i][v]);
          }
        }
      }
    }
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        float* to = dst + i * p.dst_row + v * kWidth;
        hn::StoreU(accumulate ? hn::Add(hn::LoadU(d, to), sums[i][v]) : sums[i][v], d,
                   to);
      }
    }
    begin = end;
    accumulate = true;
  } while (begin < depth);
}

/// A tile whose last columns must not be written: by way of a buffer.
template <int kRows, template <int> class Left>
void narrow_product_tile(const Product& p, const float* a, float* dst) {
  HWY_ALIGN float buffer[(kRows + 1) * kPack] = {};
  for (int i = 0; i < kRows && p.accumulate; ++i) {
    std::copy_n(dst + i * p.dst_row, p.columns, buffer + i * kPack);
  }
  Product wide = p;
  wide.dst_row = kPack;
  product_tile<kRows, Left>(wide, a, p.b, buffer);
  for (int i = 0; i < kRows; ++i) {
    std::copy_n(buffer + i * kPack, p.columns, dst + i * p.dst_row);
  }
}

template <template <int> class Left>
HWY_INLINE void product_by(const Product& p, std::size_t left_row) {
  const Tiles tiles(p.rows, kTile);
  for (int tile = 0; tile < tiles.count; ++tile) {
    const float* a = p.a + tiles.begin(tile) * left_row;
    float* dst = p.dst + tiles.begin(tile) * p.dst_row;
    const float* ahead = tile == 0 && p.next_b != nullptr ? p.next_b : p.b;
    with_constant<kTile>(tiles.size(tile), [&](auto rows) HWY_ATTR {
      if (p.columns == kPack) {
        product_tile<rows(), Left>(p, a, ahead, dst);
      } else {
        narrow_product_tile<rows(), Left>(p, a, dst);
      }
    });
  }
}

void product(const Product& p) {
  if (p.a_stride > 1) {
    product_by<ColumnsLeft>(p, 1);
  } else if (p.a_row == kPack) {
    product_by<PackRowsLeft>(p, kPack);
  } else if (p.a_row > 0) {
    product_by<RowsLeft>(p, p.a_row);
  } else {
    product_by<TiledLeft>(p, static_cast<std::size_t>(p.depth));
  }
}

/// Four rows by four columns, transposed and stored `dst_row` apart.
HWY_INLINE void transpose_four(const float* HWY_RESTRICT src, std::size_t src_row,
                               float* HWY_RESTRICT dst, std::size_t dst_row) {
  const hn::FixedTag<float, 4> d;
  const auto a = hn::LoadU(d, src), b = hn::LoadU(d, src + src_row);
  const auto c = hn::LoadU(d, src + 2 * src_row), e = hn::LoadU(d, src + 3 * src_row);
  const auto ab = hn::InterleaveLower(d, a, b), ce = hn::InterleaveLower(d, c, e);
  const auto ab_upper = hn::InterleaveUpper(d, a, b),
             ce_upper = hn::InterleaveUpper(d, c, e);
  hn::StoreU(hn::ConcatLowerLower(d, ce, ab), d, dst);
  hn::StoreU(hn::ConcatUpperUpper(d, ce, ab), d, dst + dst_row);
  hn::StoreU(hn::ConcatLowerLower(d, ce_upper, ab_upper), d, dst + 2 * dst_row);
  hn::StoreU(hn::ConcatUpperUpper(d, ce_upper, ab_upper), d, dst + 3 * dst_row);
}

void rows_to_tile(const ToTile& copy) {
  const auto rows = static_cast<std::size_t>(copy.rows);
  int k = 0;
  // Blocks of four by four; the last four rows of a tile overlap those before. Four rows
  // to their end before the next four: where rows are a power of two apart, more of them
  // would push each other out of the cache.
  const int whole = rows >= 4 ? copy.depth / 4 * 4 : 0;
  for (std::size_t i = 0; whole > 0 && i < rows; i += 4) {
    const std::size_t first = std::min(i, rows - 4);
    for (k = 0; k < whole; k += 4) {
      transpose_four(copy.src + first * copy.src_row + k, copy.src_row,
                     copy.dst + k * rows + first, rows);
    }
  }
  for (; k < copy.depth; ++k) {
    for (std::size_t i = 0; i < rows; ++i) {
      copy.dst[k * rows + i] = copy.src[i * copy.src_row + k];
    }
  }
}

void columns_to_tile(const ToTile& copy) {
  with_constant<kTile>(copy.rows, [&](auto rows) HWY_ATTR {
    const float* src = copy.src;
    float* dst = copy.dst;
    for (int k = 0; k < copy.depth; ++k, src += copy.src_row, dst += rows()) {
      for (int i = 0; i < rows(); ++i) dst[i] = src[i];
    }
  });
}

const ProductKernels kProduct = {kTile, product, rows_to_tile, columns_to_tile};

}  // namespace HWY_NAMESPACE
}  // namespace convoy
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace convoy::reference {
namespace {

/// One row of the product, k from `begin` to `end`.
CONVOY_WITH_FMA void add_chain(const Product& p, const Tiles& tiles, int i, int begin,
                               int end) {
  Lanes sums = {};
  for (int piece = 0; piece < p.pieces; ++piece) {
    for (int k = begin; k < end; ++k) {
      const std::size_t left =
          p.a_row > 0 ? i * p.a_row + k * p.a_stride : tiled_index(tiles, i, k, p.depth);
      const float factor = p.a[piece * p.a_piece + left];
      const float* b = p.b + piece * p.b_piece + static_cast<std::size_t>(k) * kPack;
      for (int j = 0; j < kPack; ++j) sums[j] = std::fma(factor, b[j], sums[j]);
    }
  }
  float* dst = p.dst + i * p.dst_row;
  for (int j = 0; j < p.columns; ++j) {
    dst[j] = begin > 0 || p.accumulate ? dst[j] + sums[j] : sums[j];
  }
}

void product_row(const Product& p, const Tiles& tiles, int i) {
  int begin = 0;
  do {
    add_chain(p, tiles, i, begin, std::min(begin + kChain, p.depth));
    begin += kChain;
  } while (begin < p.depth);
}

void product(const Product& p) {
  const Tiles tiles(p.rows, kTile);
  for (int i = 0; i < p.rows; ++i) product_row(p, tiles, i);
}

void rows_to_tile(const ToTile& copy) {
  for (int k = 0; k < copy.depth; ++k) {
    for (int i = 0; i < copy.rows; ++i) {
      copy.dst[static_cast<std::size_t>(k) * copy.rows + i] =
          copy.src[i * copy.src_row + k];
    }
  }
}

void columns_to_tile(const ToTile& copy) {
  for (int k = 0; k < copy.depth; ++k) {
    for (int i = 0; i < copy.rows; ++i) {
      copy.dst[static_cast<std::size_t>(k) * copy.rows + i] =
          copy.src[k * copy.src_row + i];
    }
  }
}

}  // namespace

const ProductKernels kProduct = {kTile, product, rows_to_tile, columns_to_tile};

}  // namespace convoy::reference

CONVOY_KERNELS_OF(ProductKernels, fp32_product_kernels, kProduct)

namespace convoy {

const ProductKernels& product_kernels(KernelSet set) {
  return products_of(set) == Products::fp32 ? fp32_product_kernels(set)
                                            : bf16_product_kernels(set);
}

}  // namespace convoy
#endif
