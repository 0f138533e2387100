// SPDX-License-Identifier: Apache-2.0
//
// The fast form of a product by matrix registers, sixteen rows of sixteen pairs each: the
// arithmetic of bf16_pairs_inl.h also has
//
//   multiply(tiles)           the sums of several tiles, as bf16_product.h says
//   transpose(from, to, row)  sixteen by sixteen numbers of 32 bits, to rows that are
//                             `row` apart
//
// One instruction reads its left operand as [row][pair] and its right one as [pair][16],
// a block of sixteen pairs of each. Rows of a are paired as the first. Where a has
// columns, a tile is paired as the second, and the tile of dst computed transposed.
// Several tiles of a are multiplied at once, because each sum waits long for the one
// before it.
//
// Packed operands are such blocks already: of a tile of a [block][row][16 pairs], of b
// [block][pair][16]. They take half of the memory that the numbers had.

#include "convoy/network/kernels/bf16/bf16_pairs_inl.h"

namespace convoy::bf16 {
namespace {

/// Tiles that are multiplied at once.
constexpr int kGroup = 4;

/// Sixteen pairs by sixteen, the numbers of so many pairs, and the most pairs of a tile.
constexpr int kBlock = kPack * kPack;
constexpr int kBlockDepth = 2 * kPack;
constexpr int kTilePairs = kPack * PairsInRows::kRow;

constexpr int blocks_of(int pairs) { return (pairs + kPack - 1) / kPack; }

/// Blocks of an operand, whose rows are `row` pairs apart.
struct Blocks {
  const Bf16Pair* first;
  int row, block;  // from one to the next
};

/// Up to kGroup products that have one operand in common, each [16][16].
struct MatrixTiles {
  Blocks own[kGroup];
  Blocks common;
  bool own_is_left;
  int count;    // of tiles
  int blocks;   // of each operand
  float* sums;  // [kGroup][16][16]
};

/// Zeros after the pairs of lines, so that blocks are whole.
void fill_block(int pairs, Bf16Pair* lines) {
  std::fill(lines + pairs * kPack, lines + blocks_of(pairs) * kBlock, 0);
}

/// Lines of numbers, `step` apart, as one block: [pair][16].
template <class Arithmetic>
void block_of_lines(const float* first, std::size_t step, int lines, int count,
                    Bf16Pair* to) {
  pair_lines<Arithmetic>(first, step, lines, count, to);
  fill_block((lines + 1) / 2, to);
}

/// Packs a tile of a. Each block is read before it is overwritten.
template <class Arithmetic>
void pack_matrix_left(const ToPack& tile) {
  alignas(64) Bf16Pair lines[kBlock], rows[kBlock];
  auto* to = reinterpret_cast<Bf16Pair*>(tile.numbers);
  for (int k = 0; k < tile.depth; k += kBlockDepth, to += tile.rows * kPack) {
    block_of_lines<Arithmetic>(tile.numbers + k * tile.rows,
                               static_cast<std::size_t>(tile.rows),
                               std::min(kBlockDepth, tile.depth - k), tile.rows, lines);
    Arithmetic::transpose(lines, rows, kPack);
    std::copy_n(rows, tile.rows * kPack, to);
  }
}

/// Packs b.
template <class Arithmetic>
void pack_matrix_right(const ToPack& b) {
  alignas(64) Bf16Pair lines[kBlock];
  auto* to = reinterpret_cast<Bf16Pair*>(b.numbers);
  for (int k = 0; k < b.depth; k += kBlockDepth, to += kBlock) {
    block_of_lines<Arithmetic>(b.numbers + k * kPack, kPack,
                               std::min(kBlockDepth, b.depth - k), kPack, lines);
    std::copy_n(lines, kBlock, to);
  }
}

/// One chain of a product.
template <class Arithmetic, int kTile>
class MatrixChain {
 public:
  MatrixChain(const Product& product, const PairedChain& chain)
      : p_(product),
        chain_(chain),
        pairs_(product.pieces * chain.pairs()),
        blocks_(blocks_of(pairs_)),
        in_rows_(product.a_packed || (product.a_row > 0 && product.a_stride == 1)),
        tiles_(product.rows, product.a_row > 0 ? kPack : kTile) {}

  void multiply() {
    const Blocks right = right_blocks();
    const Blocks common = in_rows_ ? right : left_of_columns(right);
    for (int first = 0; first < tiles_.count; first += kGroup) {
      MatrixTiles tiles = {.own = {},
                           .common = common,
                           .own_is_left = in_rows_,
                           .count = std::min(kGroup, tiles_.count - first),
                           .blocks = blocks_,
                           .sums = sums_};
      for (int t = 0; t < tiles.count; ++t) {
        const Range rows = tiles_.range(first + t);
        tiles.own[t] = p_.a_packed ? packed_tile(rows, own_ + t * kTilePairs)
                                   : paired_tile(rows, own_ + t * kTilePairs);
      }
      Arithmetic::multiply(tiles);
      for (int t = 0; t < tiles.count; ++t) {
        store_tile(tiles_.range(first + t), sums_ + t * kBlock);
      }
    }
  }

 private:
  Blocks right_blocks() {
    if (p_.b_packed) {
      const auto* packed = reinterpret_cast<const Bf16Pair*>(p_.b);
      return {packed + chain_.begin / kBlockDepth * kBlock, kPack, kBlock};
    }
    pair_right<Arithmetic>(p_, chain_, right_);
    fill_block(pairs_, right_);
    return {right_, kPack, kBlock};
  }

  /// b as the left operand: its columns become rows.
  Blocks left_of_columns(const Blocks& right) {
    for (int i = 0; i < blocks_; ++i) {
      Arithmetic::transpose(right.first + i * kBlock, columns_ + i * kPack,
                            PairsInRows::kRow);
    }
    return {columns_, PairsInRows::kRow, kPack};
  }

  /// All sixteen rows of a block are read: a tile that ends before is copied.
  Blocks packed_tile(const Range& rows, Bf16Pair* buffer) const {
    const int count = static_cast<int>(rows.size());
    const float* tile = p_.a + rows.begin * static_cast<std::size_t>(p_.depth);
    const int block = count * kPack, skipped = chain_.begin / kBlockDepth * block;
    const auto* first = reinterpret_cast<const Bf16Pair*>(tile) + skipped;
    if (skipped + (blocks_ - 1) * block + kBlock <= count * p_.depth) {
      return {first, kPack, block};
    }
    for (int i = 0; i < blocks_; ++i) {
      std::copy_n(first + i * block, block, buffer + i * kBlock);
    }
    return {buffer, kPack, kBlock};
  }

  Blocks paired_tile(const Range& rows, Bf16Pair* buffer) const {
    const TileLeft left = left_of(p_, rows);
    if (!in_rows_) {
      pair_columns<Arithmetic>(p_, chain_, left, buffer);
      fill_block(pairs_, buffer);
      return {buffer, kPack, kBlock};
    }
    pair_rows<Arithmetic>(p_, chain_, left, buffer);
    for (int i = 0; i < left.rows; ++i) {
      Bf16Pair* row = buffer + i * PairsInRows::kRow;
      std::fill(row + pairs_, row + blocks_ * kPack, 0);
    }
    return {buffer, PairsInRows::kRow, kPack};
  }

  void store_tile(const Range& rows, const float* sums) const {
    alignas(64) float turned[kBlock];
    if (!in_rows_) {
      Arithmetic::transpose(sums, turned, kPack);
      sums = turned;
    }
    const bool accumulate = p_.accumulate || chain_.begin > 0;
    float* dst = p_.dst + rows.begin * p_.dst_row;
    for (std::size_t i = 0; i < rows.size(); ++i, dst += p_.dst_row, sums += kPack) {
      if (p_.columns == kPack) {
        const auto sum = Arithmetic::load(sums);
        Arithmetic::store(accumulate ? Arithmetic::add(Arithmetic::load(dst), sum) : sum,
                          dst);
        continue;
      }
      for (int j = 0; j < p_.columns; ++j)
        dst[j] = accumulate ? dst[j] + sums[j] : sums[j];
    }
  }

  const Product& p_;
  const PairedChain& chain_;
  int pairs_, blocks_;
  bool in_rows_;
  Tiles tiles_;
  alignas(64) Bf16Pair right_[kMostPairs * kPack];
  alignas(64) Bf16Pair columns_[kTilePairs];
  alignas(64) Bf16Pair own_[kGroup * kTilePairs];
  alignas(64) float sums_[kGroup * kBlock];
};

/// Requires: of several pieces, pieces * depth <= kChain. `kTile`: of a in tiles.
template <class Arithmetic, int kTile>
void matrix_product(const Product& p) {
  int begin = 0;
  do {
    const PairedChain chain = {begin, std::min(begin + kChain, p.depth)};
    MatrixChain<Arithmetic, kTile>(p, chain).multiply();
    begin = chain.end;
  } while (begin < p.depth);
}

}  // namespace
}  // namespace convoy::bf16
