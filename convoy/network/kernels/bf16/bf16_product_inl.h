// SPDX-License-Identifier: Apache-2.0
//
// The fast form of a product by dot products of pairs: the arithmetic of bf16_pairs_inl.h
// also has
//
//   dot(sums, one, pairs)            adds the products of one pair with each of sixteen
//
// The innermost loop is a load of sixteen pairs of b, and one dot product per row.

#include "convoy/network/kernels/bf16/bf16_pairs_inl.h"

namespace convoy::bf16 {
namespace {

/// A tile of dst, and its operands in pairs.
struct PairedTile {
  const Bf16Pair *a, *b;
  int pairs;
  float* dst;
  std::size_t dst_row;
  bool accumulate;
};

/// A function of its own for each number of rows: the sums have all registers.
template <class Arithmetic, class Layout, int kRows>
[[gnu::noinline]] void multiply_pairs(const PairedTile& tile) {
  typename Arithmetic::Sums sums[kRows];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) sums[i] = Arithmetic::zero();
  const Bf16Pair *a = tile.a, *b = tile.b;
#pragma GCC unroll 4
  for (int pair = 0; pair < tile.pairs; ++pair, a += Layout::kPair, b += kPack) {
    const auto right = Arithmetic::load_pairs(b);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      sums[i] = Arithmetic::dot(sums[i], a + i * Layout::kRow, right);
    }
  }
  float* to = tile.dst;
  const std::size_t row = tile.dst_row;
  const bool accumulate = tile.accumulate;
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i, to += row) {
    Arithmetic::store(
        accumulate ? Arithmetic::add(Arithmetic::load(to), sums[i]) : sums[i], to);
  }
}

/// With `rows` (1 .. kMost) as a compile-time constant.
template <class Arithmetic, class Layout, int kMost>
void multiply_rows(int rows, const PairedTile& tile) {
  if constexpr (kMost > 1) {
    if (rows < kMost) {
      return multiply_rows<Arithmetic, Layout, kMost - 1>(rows, tile);
    }
  }
  multiply_pairs<Arithmetic, Layout, kMost>(tile);
}

/// A tile whose last columns must not be written: by way of a buffer.
template <class Arithmetic, class Layout, int kTile>
void multiply_narrow(int rows, int columns, PairedTile tile) {
  float buffer[kTile * kPack] = {};
  float* dst = tile.dst;
  for (int i = 0; i < rows && tile.accumulate; ++i) {
    std::copy_n(dst + i * tile.dst_row, columns, buffer + i * kPack);
  }
  const std::size_t dst_row = tile.dst_row;
  tile.dst = buffer;
  tile.dst_row = kPack;
  multiply_rows<Arithmetic, Layout, kTile>(rows, tile);
  for (int i = 0; i < rows; ++i) {
    std::copy_n(buffer + i * kPack, columns, dst + i * dst_row);
  }
}

template <class Arithmetic, class Layout, int kTile>
void multiply_tile(int rows, int columns, const PairedTile& tile) {
  if (columns == kPack) {
    multiply_rows<Arithmetic, Layout, kTile>(rows, tile);
  } else {
    multiply_narrow<Arithmetic, Layout, kTile>(rows, columns, tile);
  }
}

/// All tiles of a chain.
template <class Arithmetic, int kTile>
void multiply_chain(const Product& p, const PairedChain& chain, const Bf16Pair* right) {
  alignas(64) Bf16Pair buffer[std::max(kTile * PairsInRows::kRow, kMostPairs * kPack)];
  const Tiles tiles(p.rows, kTile);
  for (int number = 0; number < tiles.count; ++number) {
    const TileLeft left = left_of(p, tiles.range(number));
    const PairedTile tile = {.a = buffer,
                             .b = right,
                             .pairs = p.pieces * chain.pairs(),
                             .dst = p.dst + tiles.begin(number) * p.dst_row,
                             .dst_row = p.dst_row,
                             .accumulate = p.accumulate || chain.begin > 0};
    if (left.column == 1) {
      pair_rows<Arithmetic>(p, chain, left, buffer);
      multiply_tile<Arithmetic, PairsInRows, kTile>(left.rows, p.columns, tile);
    } else {
      pair_columns<Arithmetic>(p, chain, left, buffer);
      multiply_tile<Arithmetic, PairsInColumns, kTile>(left.rows, p.columns, tile);
    }
  }
}

/// Requires: of several pieces, pieces * depth <= kChain.
template <class Arithmetic, int kTile>
void paired_product(const Product& p) {
  alignas(64) Bf16Pair right[kMostPairs * kPack];
  int begin = 0;
  do {
    const PairedChain chain = {begin, std::min(begin + kChain, p.depth)};
    pair_right<Arithmetic>(p, chain, right);
    multiply_chain<Arithmetic, kTile>(p, chain, right);
    begin = chain.end;
  } while (begin < p.depth);
}

}  // namespace
}  // namespace convoy::bf16
