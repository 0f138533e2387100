// SPDX-License-Identifier: Apache-2.0
//
// The fast form by TDPBF16PS, an instruction on matrix registers (AMX). Only what stands
// between the pragmas is compiled for it: functions of the headers above are shared with
// files for any processor.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "convoy/base/error.h"
#include "convoy/network/kernels/bf16/bf16_product.h"

#if defined(__linux__) && defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,amx-tile,amx-bf16")
#include "convoy/network/kernels/bf16/avx512_pairs_inl.h"
//
#include "convoy/network/kernels/bf16/amx_product_inl.h"

namespace convoy {
namespace bf16 {
namespace {

/// GCC 12 does not know which memory the instructions on matrix registers read and write:
/// what is written before this is in memory, and what is read after it comes from there.
inline void keep_in_order(const void* memory) {
  asm volatile("" ::"r"(memory) : "memory");
}

/// What LDTILECFG reads.
struct alignas(64) TileShapes {
  std::uint8_t palette = 1, start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};

/// All eight registers have sixteen rows of 64 bytes, in this thread, from now on.
bool shape_tiles() {
  TileShapes shapes;
  for (int tile = 0; tile < 8; ++tile) {
    shapes.row_bytes[tile] = 64;
    shapes.rows[tile] = kPack;
  }
  keep_in_order(&shapes);
  _tile_loadconfig(&shapes);
  return true;
}

// The numbers of registers are part of an instruction, hence a macro. Sums are 0 to 3,
// the common operand is 4, those of the tiles are 5 and 6 in turn.
static_assert(kGroup == 4);
#define CONVOY_ADD_TILE(sum, own_register)                                       \
  if (tiles.count > sum) {                                                       \
    const Blocks& own = tiles.own[sum];                                          \
    _tile_loadd(own_register, own.first + block * own.block, bytes_of_row(own)); \
    if constexpr (kOwnIsLeft) _tile_dpbf16ps(sum, own_register, 4);              \
    if constexpr (!kOwnIsLeft) _tile_dpbf16ps(sum, 4, own_register);             \
  }

std::size_t bytes_of_row(const Blocks& blocks) { return blocks.row * sizeof(Bf16Pair); }

template <bool kOwnIsLeft>
void add_blocks(const MatrixTiles& tiles) {
  const Blocks& common = tiles.common;
  for (int block = 0; block < tiles.blocks; ++block) {
    _tile_loadd(4, common.first + block * common.block, bytes_of_row(common));
    CONVOY_ADD_TILE(0, 5)
    CONVOY_ADD_TILE(1, 6)
    CONVOY_ADD_TILE(2, 5)
    CONVOY_ADD_TILE(3, 6)
  }
}

struct Amx : Avx512Pairs {
  static void multiply(const MatrixTiles& tiles) {
    thread_local const bool shaped = shape_tiles();
    static_cast<void>(shaped);
    keep_in_order(&tiles);
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    if (tiles.own_is_left) add_blocks<true>(tiles);
    if (!tiles.own_is_left) add_blocks<false>(tiles);
    _tile_stored(0, tiles.sums, 64);
    _tile_stored(1, tiles.sums + kBlock, 64);
    _tile_stored(2, tiles.sums + 2 * kBlock, 64);
    _tile_stored(3, tiles.sums + 3 * kBlock, 64);
    keep_in_order(tiles.sums);
  }

  /// Interleaving rows i and i + 8 four times transposes sixteen rows.
  template <class Number>
  static void transpose(const Number* from, Number* to, std::size_t row) {
    const __m512i lower =
        _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    const __m512i upper =
        _mm512_set_epi32(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8);
    __m512i rows[kPack];
#pragma GCC unroll 16
    for (int i = 0; i < kPack; ++i) rows[i] = _mm512_loadu_si512(from + i * kPack);
#pragma GCC unroll 4
    for (int round = 0; round < 4; ++round) {
      __m512i next[kPack];
#pragma GCC unroll 8
      for (int i = 0; i < kPack / 2; ++i) {
        next[2 * i] = _mm512_permutex2var_epi32(rows[i], lower, rows[i + 8]);
        next[2 * i + 1] = _mm512_permutex2var_epi32(rows[i], upper, rows[i + 8]);
      }
#pragma GCC unroll 16
      for (int i = 0; i < kPack; ++i) rows[i] = next[i];
    }
#pragma GCC unroll 16
    for (int i = 0; i < kPack; ++i) _mm512_storeu_si512(to + i * row, rows[i]);
  }
};

}  // namespace
}  // namespace bf16

void amx_product(const Product& product) {
  check(product.pieces == 1 || product.pieces * product.depth <= kChain,
        "pieces are one chain");
  bf16::matrix_product<bf16::Amx, bf16::kAvx512Tile>(product);
}

void amx_pack_left(const ToPack& tile) { bf16::pack_matrix_left<bf16::Amx>(tile); }
void amx_pack_right(const ToPack& b) { bf16::pack_matrix_right<bf16::Amx>(b); }

}  // namespace convoy
#pragma GCC pop_options

namespace convoy {
namespace {

/// Linux saves a process's matrix registers only if it was asked to.
bool asked_for_tiles() {
  constexpr int kRequestState = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM
  return ::syscall(SYS_arch_prctl, kRequestState, kTileData) == 0;
}

}  // namespace

bool has_amx() {
  static const bool has =
      has_avx512_bf16() && __builtin_cpu_supports("amx-bf16") != 0 && asked_for_tiles();
  return has;
}

}  // namespace convoy
#else

namespace convoy {

bool has_amx() { return false; }
void amx_product(const Product&) { check(false, "this processor has no AMX"); }
void amx_pack_left(const ToPack&) { check(false, "this processor has no AMX"); }
void amx_pack_right(const ToPack&) { check(false, "this processor has no AMX"); }

}  // namespace convoy
#endif
