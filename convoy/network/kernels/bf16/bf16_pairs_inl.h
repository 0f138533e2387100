// SPDX-License-Identifier: Apache-2.0
//
// Operands of a product as pairs of bf16: what both fast forms begin with. Everything is
// a template over an arithmetic, which the instructions of AVX-512 are
// (avx512_pairs_inl.h), and plain arrays in a test:
//
//   Sums   sixteen fp32 sums       zero(), load(from), store(sums, to), add(a, b)
//   Pairs  sixteen pairs of bf16   load_pairs(from), store_pairs(pairs, to)
//
//   pairs_of_rows(even, odd, count)  pair i is even[i], odd[i]; zeros from `count` on
//   pairs_of_row(row, count)         pair i is row[2 i], row[2 i + 1]; zeros from number
//                                    `count` on
//
// b is rounded once for each chain, for all tiles, and a for each tile.
//
// A source includes this once, after <algorithm>, <cstdint> and product.h, where it has
// said for which instruction set it is compiled. All of it is the source's own: a linker
// must not use functions of one instruction set in a source of another.

#pragma once

namespace convoy::bf16 {
namespace {

/// The even number is in the lower half.
using Bf16Pair = std::uint32_t;

/// Of a chain: as many as numbers, where each piece has a single one.
constexpr int kMostPairs = kChain;

/// The k of a chain: in each piece those from `begin` to `end`.
struct PairedChain {
  int begin, end;

  // Of a piece.
  int depth() const { return end - begin; }
  int pairs() const { return (depth() + 1) / 2; }
};

/// How pairs of a tile of a are laid out: as they are found most easily. Rows of a that
/// are rows of memory stay rows, a cache line apart from a power of two.
struct PairsInRows {
  static constexpr int kRow = kMostPairs + kPack, kPair = 1;
};
struct PairsInColumns {
  static constexpr int kRow = 1, kPair = kPack;
};

/// The left operand of a tile.
struct TileLeft {
  const float* first;
  std::size_t row, column;  // from i to i + 1, from k to k + 1
  int rows;
};

/// Pairs of lines of memory, which are `step` apart: of each, `count` numbers. Returns
/// the end of what it wrote, [pair][16].
template <class Arithmetic>
Bf16Pair* pair_lines(const float* first, std::size_t step, int lines, int count,
                     Bf16Pair* to) {
  for (; lines > 1; lines -= 2, first += 2 * step, to += kPack) {
    Arithmetic::store_pairs(Arithmetic::pairs_of_rows(first, first + step, count), to);
  }
  if (lines == 0) return to;
  static constexpr float kZeros[kPack] = {};
  Arithmetic::store_pairs(Arithmetic::pairs_of_rows(first, kZeros, count), to);
  return to + kPack;
}

/// Pairs of numbers beside each other. Writes sixteen pairs at a time, so up to fifteen
/// too many.
template <class Arithmetic>
void pair_line(const float* first, int count, Bf16Pair* to) {
  constexpr int kNumbers = 2 * kPack;
  for (; count >= kNumbers; count -= kNumbers, first += kNumbers, to += kPack) {
    Arithmetic::store_pairs(Arithmetic::pairs_of_row(first, kNumbers), to);
  }
  if (count > 0) Arithmetic::store_pairs(Arithmetic::pairs_of_row(first, count), to);
}

/// b's numbers of a chain: [piece][pair][16].
template <class Arithmetic>
void pair_right(const Product& p, const PairedChain& chain, Bf16Pair* to) {
  const float* b = p.b + static_cast<std::size_t>(chain.begin) * kPack;
  for (int piece = 0; piece < p.pieces; ++piece, b += p.b_piece) {
    to = pair_lines<Arithmetic>(b, kPack, chain.depth(), kPack, to);
  }
}

/// A piece overwrites what the one before it wrote too many.
template <class Arithmetic>
void pair_rows(const Product& p, const PairedChain& chain, const TileLeft& left,
               Bf16Pair* to) {
  const float* a = left.first + chain.begin;
  for (int piece = 0; piece < p.pieces; ++piece, a += p.a_piece, to += chain.pairs()) {
    for (int i = 0; i < left.rows; ++i) {
      pair_line<Arithmetic>(a + i * left.row, chain.depth(), to + i * PairsInRows::kRow);
    }
  }
}

template <class Arithmetic>
void pair_columns(const Product& p, const PairedChain& chain, const TileLeft& left,
                  Bf16Pair* to) {
  const float* a = left.first + chain.begin * left.column;
  for (int piece = 0; piece < p.pieces; ++piece, a += p.a_piece) {
    to = pair_lines<Arithmetic>(a, left.column, chain.depth(), left.rows, to);
  }
}

/// A tile of a has columns beside each other, as a has if a_stride > 1.
TileLeft left_of(const Product& p, const Range& rows) {
  const int count = static_cast<int>(rows.size());
  if (p.a_row > 0) return {p.a + rows.begin * p.a_row, p.a_row, p.a_stride, count};
  return {p.a + rows.begin * static_cast<std::size_t>(p.depth), 1, rows.size(), count};
}

}  // namespace
}  // namespace convoy::bf16
