// SPDX-License-Identifier: Apache-2.0
//
// Product and its epilogues, for one instruction set. Included once a target by fast.cpp.
//
// A tile of kTile x 16 sums stays in registers while k runs: for each k, one broadcast a
// row and sixteen numbers of b. GCC keeps an array in registers only if every loop over
// it is unrolled in full; without the pragmas each multiply-add is followed by a store.

HWY_BEFORE_NAMESPACE();
namespace convoy {
namespace HWY_NAMESPACE {

template <int kRows>
HWY_INLINE void product_tile(const Product& p, const float* HWY_RESTRICT a,
                             float* HWY_RESTRICT dst) {
  const D d;
  V sums[kRows][kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      sums[i][v] =
          p.accumulate ? hn::LoadU(d, dst + i * p.dst_row + v * kWidth) : hn::Zero(d);
    }
  }
  const float* HWY_RESTRICT b = p.b;
  for (int k = 0; k < p.depth; ++k, a += kRows, b += kPack) {
    V row[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) row[v] = hn::LoadU(d, b + v * kWidth);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const V factor = hn::Set(d, a[i]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v)
        sums[i][v] = hn::MulAdd(factor, row[v], sums[i][v]);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      hn::StoreU(sums[i][v], d, dst + i * p.dst_row + v * kWidth);
    }
  }
}

/// A tile whose last columns must not be written: by way of a buffer.
template <int kRows>
void narrow_product_tile(const Product& p, const float* a, float* dst) {
  HWY_ALIGN float buffer[kRows * kPack] = {};
  for (int i = 0; i < kRows && p.accumulate; ++i) {
    std::copy_n(dst + i * p.dst_row, p.columns, buffer + i * kPack);
  }
  Product wide = p;
  wide.dst_row = kPack;
  product_tile<kRows>(wide, a, buffer);
  for (int i = 0; i < kRows; ++i) {
    std::copy_n(buffer + i * kPack, p.columns, dst + i * p.dst_row);
  }
}

void product(const Product& p) {
  const Tiles tiles(p.rows, kTile);
  for (int tile = 0; tile < tiles.count; ++tile) {
    const float* a = p.a + static_cast<std::size_t>(tiles.begin(tile)) * p.depth;
    float* dst = p.dst + tiles.begin(tile) * p.dst_row;
    with_constant<kTile>(tiles.size(tile), [&](auto rows) HWY_ATTR {
      if (p.columns == kPack) {
        product_tile<rows()>(p, a, dst);
      } else {
        narrow_product_tile<rows()>(p, a, dst);
      }
    });
  }
}

void add_bias(float* dst, const float* bias, int rows, float floor) {
  const D d;
  const V least = hn::Set(d, floor);
  for (int i = 0; i < rows; ++i, dst += kPack) {
    const V offset = hn::Set(d, bias[i]);
    for (int v = 0; v < kPack; v += kWidth) {
      hn::StoreU(at_least(least, hn::Add(hn::LoadU(d, dst + v), offset)), d, dst + v);
    }
  }
}

void mask_by_sign(float* gradient, const float* activation, std::size_t size) {
  const D d;
  std::size_t i = 0;
  for (; i + kWidth <= size; i += kWidth) {
    const auto positive = hn::Gt(hn::LoadU(d, activation + i), hn::Zero(d));
    hn::StoreU(hn::IfThenElseZero(positive, hn::LoadU(d, gradient + i)), d, gradient + i);
  }
  for (; i < size; ++i) gradient[i] = activation[i] > 0 ? gradient[i] : 0;
}

float sum(const float* values, std::size_t size) {
  const D d;
  V sums[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  for (std::size_t i = 0; i < size; i += kPack) {
    for (int v = 0; v < kVectors; ++v) {
      sums[v % 4] = hn::Add(sums[v % 4], hn::LoadU(d, values + i + v * kWidth));
    }
  }
  const V total = hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
  return hn::GetLane(hn::SumOfLanes(d, total));
}

}  // namespace HWY_NAMESPACE
}  // namespace convoy
HWY_AFTER_NAMESPACE();
