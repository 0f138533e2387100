// SPDX-License-Identifier: Apache-2.0
//
// Products of bf16: the plain forms compute what their header says, and the fast forms
// have their bits. A fast form is a template over its arithmetic, so with plain arrays
// instead of registers it is tested on every processor; with VDPBF16PS and with AMX where
// the processor has them.

#include "convoy/network/kernels/bf16/bf16_product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "convoy/base/float16.h"
#include "tests/network/kernel_tables.h"
//
#include "convoy/network/kernels/bf16/amx_product_inl.h"
#include "convoy/network/kernels/bf16/bf16_product_inl.h"

namespace convoy {
namespace {

/// Sixteen lanes as arrays.
struct PlainArithmetic {
  using Sums = std::array<float, kPack>;
  using Pairs = std::array<bf16::Bf16Pair, kPack>;

  static Sums zero() { return {}; }
  static Sums load(const float* from) {
    Sums sums;
    std::copy_n(from, kPack, sums.begin());
    return sums;
  }
  static void store(const Sums& sums, float* to) { std::ranges::copy(sums, to); }
  static Sums add(Sums a, const Sums& b) {
    for (int i = 0; i < kPack; ++i) a[i] += b[i];
    return a;
  }

  static Pairs load_pairs(const bf16::Bf16Pair* from) {
    Pairs pairs;
    std::copy_n(from, kPack, pairs.begin());
    return pairs;
  }
  static void store_pairs(const Pairs& pairs, bf16::Bf16Pair* to) {
    std::ranges::copy(pairs, to);
  }
  static Pairs pairs_of_rows(const float* even, const float* odd, int count) {
    Pairs pairs = {};
    for (int i = 0; i < count; ++i) {
      pairs[i] = half(even[i]) | half(odd[i]) << 16;
    }
    return pairs;
  }
  static Pairs pairs_of_row(const float* row, int count) {
    Pairs pairs = {};
    for (int k = 0; k < count; ++k) pairs[k / 2] |= half(row[k]) << (k % 2 * 16);
    return pairs;
  }
  static Sums dot(Sums sums, const bf16::Bf16Pair* one, const Pairs& pairs) {
    for (int i = 0; i < kPack; ++i) {
      sums[i] = multiply_add(*one >> 16, pairs[i] >> 16, sums[i]);
      sums[i] = multiply_add(*one & 0xFFFF, pairs[i] & 0xFFFF, sums[i]);
    }
    return sums;
  }

  static void multiply(const bf16::MatrixTiles& tiles);

  template <class Number>
  static void transpose(const Number* from, Number* to, std::size_t row) {
    for (int i = 0; i < kPack; ++i) {
      for (int j = 0; j < kPack; ++j) to[j * row + i] = from[i * kPack + j];
    }
  }

 private:
  static bf16::Bf16Pair half(float value) { return to_bf16(flushed(value)); }
  static float flushed(float value) {
    return std::fpclassify(value) == FP_SUBNORMAL ? 0 * value : value;
  }
  static float multiply_add(bf16::Bf16Pair a, bf16::Bf16Pair b, float sum) {
    return flushed(std::fma(from_bf16(static_cast<std::uint16_t>(a)),
                            from_bf16(static_cast<std::uint16_t>(b)), sum));
  }
};

/// Each block's products of both halves of the pairs, in order, then the sum of both.
void PlainArithmetic::multiply(const bf16::MatrixTiles& tiles) {
  std::fill_n(tiles.sums, tiles.count * bf16::kBlock, 0.0f);
  for (int t = 0; t < tiles.count; ++t) {
    const bf16::Blocks& left = tiles.own_is_left ? tiles.own[t] : tiles.common;
    const bf16::Blocks& right = tiles.own_is_left ? tiles.common : tiles.own[t];
    for (int at = 0; at < tiles.blocks * bf16::kBlock; ++at) {
      const int block = at / bf16::kBlock, i = at / kPack % kPack, j = at % kPack;
      float even = 0, odd = 0;
      for (int k = 0; k < kPack; ++k) {
        const bf16::Bf16Pair a = left.first[block * left.block + i * left.row + k];
        const bf16::Bf16Pair b = right.first[block * right.block + k * right.row + j];
        even = multiply_add(a & 0xFFFF, b & 0xFFFF, even);
        odd = multiply_add(a >> 16, b >> 16, odd);
      }
      float& sum = tiles.sums[t * bf16::kBlock + i * kPack + j];
      sum = flushed(sum + flushed(even + odd));
    }
  }
}

/// A fast form, and the plain one of its bits. Without a function, this processor has
/// none.
struct FastForm {
  const char* name;
  int tile;
  void (*product)(const Product&);
  KernelSet plain;
  void (*pack_left)(const ToPack&) = nullptr;
  void (*pack_right)(const ToPack&) = nullptr;
};

FastForm form_of(const char* name, KernelSet set) {
  const std::vector<KernelSet> sets = available_kernel_sets(products_of(set));
  if (sets.front() != set) return {name, 12, nullptr, sets.back()};
  const ProductKernels& kernels = product_kernels(set);
  return {name, 12, kernels.product, sets.back(), kernels.pack_left, kernels.pack_right};
}

std::vector<FastForm> fast_forms() {
  return {{"OfPlainArrays", 12, bf16::paired_product<PlainArithmetic, 12>,
           KernelSet::reference_bf16},
          {"OfPlainMatrices", 12, bf16::matrix_product<PlainArithmetic, 12>,
           KernelSet::reference_amx, bf16::pack_matrix_left<PlainArithmetic>,
           bf16::pack_matrix_right<PlainArithmetic>},
          form_of("OfAvx512", KernelSet::avx512_bf16),
          form_of("OfAmx", KernelSet::avx512_amx)};
}

/// How the left operand lies in memory.
enum class Form { tiles, rows, pack_rows, columns };

struct Case {
  Form form;
  int rows, depth;
  int pieces = 1;
  int columns = kPack;
  bool accumulate = false;
  bool a_packed = false, b_packed = false;  // for the fast form
};

/// [rows][depth] in tiles of at most `tile` rows.
Numbers in_tiles_of(int tile, const Numbers& matrix, int rows, int depth) {
  Numbers tiled;
  const Tiles tiles(rows, tile);
  for (int t = 0; t < tiles.count; ++t) {
    for (int k = 0; k < depth; ++k) {
      for (int i = tiles.begin(t); i < tiles.begin(t + 1); ++i) {
        tiled.push_back(matrix[static_cast<std::size_t>(i) * depth + k]);
      }
    }
  }
  return tiled;
}

class Bf16Products : public testing::TestWithParam<FastForm>, public Draws {
 protected:
  void SetUp() override {
    if (GetParam().product == nullptr)
      GTEST_SKIP() << "this processor has no such instruction";
  }

  virtual Numbers operand(std::size_t count) { return numbers(count); }
  void compare(const Case& work);
};

/// With both forms, to the bit; operands end where they must not be read any further.
void Bf16Products::compare(const Case& work) {
  SCOPED_TRACE(testing::Message()
               << "form " << static_cast<int>(work.form) << ", " << work.rows << " x "
               << work.columns << ", depth " << work.depth << ", pieces " << work.pieces);
  const auto rows = static_cast<std::size_t>(work.rows);
  const auto depth = static_cast<std::size_t>(work.depth);
  const bool in_columns = work.form == Form::columns;
  const std::size_t a_stride = in_columns ? rows + draw(1, 4) : 1;
  const std::size_t a_row = in_columns                     ? 1
                            : work.form == Form::tiles     ? 0
                            : work.form == Form::pack_rows ? kPack
                                                           : depth + draw(0, 3);
  const std::size_t a_piece =
      in_columns ? depth * a_stride : rows * std::max(a_row, depth);
  const std::size_t b_piece = (depth + 1) * kPack;
  const auto dst_row = static_cast<std::size_t>(work.columns + draw(0, 5));
  const Numbers a = operand(work.pieces * a_piece - (in_columns ? a_stride - rows : 0));
  const Numbers b = operand(work.pieces * b_piece - kPack);
  const Numbers before = numbers(rows * dst_row);

  const auto run = [&](int tile, void (*product)(const Product&), bool packs) {
    Numbers tiled = work.form == Form::tiles ? in_tiles_of(tile, a, work.rows, work.depth)
                                             : Numbers{};
    Numbers right = b;
    const Tiles cut(work.rows, tile);
    for (int t = 0; packs && work.a_packed && t < cut.count; ++t) {
      GetParam().pack_left({&tiled[cut.begin(t) * depth], cut.size(t), work.depth});
    }
    if (packs && work.b_packed) GetParam().pack_right({right.data(), kPack, work.depth});
    Numbers dst = before;
    product({.a = work.form == Form::tiles ? tiled.data() : a.data(),
             .a_row = a_row,
             .a_stride = a_stride,
             .b = right.data(),
             .dst = dst.data(),
             .dst_row = dst_row,
             .rows = work.rows,
             .depth = work.depth,
             .columns = work.columns,
             .accumulate = work.accumulate,
             .pieces = work.pieces,
             .a_piece = a_piece,
             .b_piece = b_piece,
             .a_packed = packs && work.a_packed,
             .b_packed = packs && work.b_packed});
    return bits_of(dst);
  };
  const ProductKernels& plain = product_kernels(GetParam().plain);
  EXPECT_EQ(run(GetParam().tile, GetParam().product, true),
            run(plain.tile, plain.product, false));
}

TEST_P(Bf16Products, HaveTheBitsOfTheReferenceInEveryForm) {
  for (const Form form : {Form::tiles, Form::rows, Form::pack_rows, Form::columns}) {
    for (int rows = 1; rows <= 26; ++rows) {
      compare({.form = form,
               .rows = rows,
               .depth = form == Form::pack_rows ? draw(1, kPack) : draw(1, 5 * kPack),
               .columns = toss() ? kPack : draw(1, kPack),
               .accumulate = toss()});
    }
  }
}

TEST_P(Bf16Products, HaveTheBitsOfTheReferenceAtAnyDepthAndOverSeveralChains) {
  for (const Form form : {Form::tiles, Form::rows, Form::columns}) {
    for (const int depth : {1, 2, 3, 17, 31, 32, 33, 63, 255, 256, 257, 600}) {
      compare({.form = form, .rows = draw(1, 14), .depth = depth, .accumulate = toss()});
    }
    compare({.form = form, .rows = 100, .depth = 300});  // more tiles than at once
  }
}

TEST_P(Bf16Products, HaveTheBitsOfTheReferenceOfPieces) {
  for (const Form form : {Form::rows, Form::pack_rows, Form::columns}) {
    for (const int pieces : {2, 3, 8}) {
      for (const int depth : {1, 5, 15, 16}) {
        compare({.form = form,
                 .rows = draw(1, 26),
                 .depth = depth,
                 .pieces = pieces,
                 .columns = toss() ? kPack : draw(1, kPack),
                 .accumulate = toss()});
      }
    }
    compare({.form = form, .rows = 13, .depth = 1, .pieces = kChain});
  }
}

TEST_P(Bf16Products, HaveTheBitsOfTheReferenceOfPackedOperands) {
  if (GetParam().pack_left == nullptr) GTEST_SKIP() << "these kernels pack nothing";
  for (const int depth : {16, 17, 31, 32, 33, 64, 255, 256, 257, 290, 800}) {
    for (const int rows : {1, 2, 12, 13, 50}) {
      compare({.form = Form::tiles,
               .rows = rows,
               .depth = depth,
               .columns = toss() ? kPack : draw(1, kPack),
               .accumulate = toss(),
               .a_packed = true,
               .b_packed = toss()});
    }
    compare({.form = Form::rows, .rows = 12, .depth = depth, .b_packed = true});
    compare({.form = Form::columns, .rows = 12, .depth = depth, .b_packed = true});
  }
}

/// Zeros of both signs, subnormal numbers, and numbers whose products are subnormal.
class Bf16ProductsOfTinyNumbers : public Bf16Products {
 protected:
  Numbers operand(std::size_t count) override {
    constexpr float kTiny[] = {0,       -0.0f,    0x1p-126f,    0x1.8p-127f, -0x1p-149f,
                               -1e-20f, 0x1p-63f, -0x1.02p-64f, 0x1p-64f,    1};
    Numbers result(count);
    for (float& number : result) number = kTiny[draw(0, std::size(kTiny) - 1)];
    return result;
  }
};

TEST_P(Bf16ProductsOfTinyNumbers, HaveTheBitsOfTheReference) {
  for (const Form form : {Form::tiles, Form::rows, Form::columns}) {
    for (const int depth : {1, 2, 3, 8})
      compare({.form = form, .rows = 12, .depth = depth});
  }
}

std::string name_of_form(const testing::TestParamInfo<FastForm>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(FastForms, Bf16Products, testing::ValuesIn(fast_forms()),
                         name_of_form);
INSTANTIATE_TEST_SUITE_P(FastForms, Bf16ProductsOfTinyNumbers,
                         testing::ValuesIn(fast_forms()), name_of_form);

/// By a plain form: one row by one column.
float plain_product(const Numbers& a, const Numbers& b,
                    KernelSet set = KernelSet::reference_bf16) {
  Numbers right(b.size() * kPack);
  for (std::size_t k = 0; k < b.size(); ++k) right[k * kPack] = b[k];
  float dst = kUntouched;
  product_kernels(set).product({.a = a.data(),
                                .a_row = a.size(),
                                .b = right.data(),
                                .dst = &dst,
                                .dst_row = 1,
                                .rows = 1,
                                .depth = static_cast<int>(a.size()),
                                .columns = 1});
  return dst;
}

TEST(PlainBf16Products, RoundOperandsToTheNearestTiesToEven) {
  EXPECT_EQ(plain_product({1 + 0x1p-8f}, {1}), 1);
  EXPECT_EQ(plain_product({1}, {1 + 0x3p-8f}), 1 + 0x1p-6f);
  EXPECT_EQ(plain_product({1 + 0x1p-7f}, {1 + 0x1p-7f}), 1 + 0x1p-6f + 0x1p-14f);
}

TEST(PlainBf16Products, AddTheOddOneOfAPairFirst) {
  // 1 + 2^-24 is rounded to 1, and 1 + 3 x 2^-25 to 1 + 2^-23.
  EXPECT_EQ(plain_product({1, 0, 0x3p-25f, 0x1p-24f}, {1, 1, 1, 1}), 1 + 0x1p-23f);
  EXPECT_EQ(plain_product({1, 0, 0x1p-24f, 0x3p-25f}, {1, 1, 1, 1}), 1 + 0x1p-22f);
}

TEST(PlainBf16Products, OfMatricesAddEvenAndOddOnesApart) {
  const auto product = [](const Numbers& a, const Numbers& b) {
    return plain_product(a, b, KernelSet::reference_amx);
  };
  // Alone, each half is rounded to 1; as one chain, the sum would be 2^-23 more.
  EXPECT_EQ(product({1, 0x1p-24f, 0x1p-24f, 0}, {1, 1, 1, 1}), 1);
  EXPECT_EQ(product({1, 0x1p-24f, 0, 0x1p-24f}, {1, 1, 1, 1}), 1 + 0x1p-23f);
  EXPECT_EQ(product({0x1p-64f}, {0x1p-63f}), 0);
}

TEST(PlainBf16Products, OfMatricesAddTheSumsOfSixteenPairs) {
  Numbers ones(34, 1), numbers(34);
  numbers[0] = 1;
  numbers[2] = numbers[32] = 0x1p-24f;  // the last one is of the next sixteen
  EXPECT_EQ(plain_product(numbers, ones, KernelSet::reference_amx), 1);
  numbers[33] = 0x1p-24f;
  EXPECT_EQ(plain_product(numbers, ones, KernelSet::reference_amx), 1 + 0x1p-23f);
}

TEST(PlainBf16Products, RoundOnceForEachProduct) {
  // The product has more bits than fp32 has below 1.
  const float factor = 1 + 0x1p-7f;
  EXPECT_EQ(plain_product({0x1p-24f * factor, 0x1p10f}, {factor, 1}),
            std::fma(0x1p-24f * factor, factor, 0x1p10f));
  EXPECT_EQ(plain_product({0x1p-12f * factor, -1}, {0x1p-12f * factor, 1}),
            std::fma(0x1p-12f * factor, 0x1p-12f * factor, -1.0f));
}

TEST(PlainBf16Products, TakeSubnormalNumbersForZeros) {
  EXPECT_EQ(plain_product({0x1.8p-127f}, {0x1p100f}), 0);
  EXPECT_EQ(plain_product({0x1p100f}, {0x1.8p-127f}), 0);
  EXPECT_EQ(plain_product({0x1p-64f}, {0x1p-63f}), 0);
  EXPECT_TRUE(std::signbit(plain_product({-0x1p-64f}, {0x1p-63f})));
  EXPECT_EQ(plain_product({0x1p-63f}, {0x1p-63f}), 0x1p-126f);
}

TEST(PlainBf16Products, AreNearTheFormulaInDoublePrecision) {
  Draws draws;
  const Numbers a = draws.numbers(600), b = draws.numbers(600);
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    sum += static_cast<double>(round_to(Dtype::bf16, a[k])) *
           static_cast<double>(round_to(Dtype::bf16, b[k]));
  }
  for (const KernelSet set : {KernelSet::reference_bf16, KernelSet::reference_amx}) {
    EXPECT_NEAR(plain_product(a, b, set), sum, 600 * 0x1p-24) << name_of(set);
  }
}

}  // namespace
}  // namespace convoy
