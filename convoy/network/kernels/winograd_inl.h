// SPDX-License-Identifier: Apache-2.0
//
// Winograd's transforms in two dimensions, for one instruction set. Included once per
// target by winograd.cpp.
//
// A transform is done column by column, then row by row. Rows outside the image are read
// from a row of zeros; columns outside it are not computed at all, nor are rows and
// columns that would not be written. The branches depend on the tile alone, so they cost
// nothing over its channels.

HWY_BEFORE_NAMESPACE();
namespace convoy {
namespace HWY_NAMESPACE {

#include "convoy/network/kernels/winograd_forms.inc"

/// Multiplies kIn numbers by a matrix of kOut rows.
using Map = void (*)(const V*, V*);

// As far apart as pixels of sixteen channels by sixteen images.
constexpr int kMostPixelStride = kPack * kPack;
alignas(64) constexpr float kZeroRow[8 * kMostPixelStride + kPack] = {};

// Images are read and written in strides of a channel, which hardware prefetchers do not
// recognise: so the pixels of the channel after the next are prefetched while one is
// computed.
constexpr int kChannelsAhead = 2;

template <int kIn, int kOut, Map kMap>
HWY_INLINE void to_products(const TileToProducts& tile) {
  const D d;
  const float* rows[kIn];
  std::size_t steps[kIn];
  for (int i = 0; i < kIn; ++i) {
    const bool inside = i >= tile.inside.top && i < tile.inside.bottom;
    rows[i] = inside ? tile.image + i * tile.image_row : kZeroRow;
    steps[i] = inside ? tile.image_channel : 0;
  }
  float* products = tile.products;
  for (int channel = 0; channel < tile.channels; ++channel, products += kPack) {
    const int ahead = channel + kChannelsAhead < tile.channels ? kChannelsAhead : 0;
    for (int v = 0; v < kPack; v += kWidth) {
      V half[kOut * kIn];
#pragma GCC unroll 16
      for (int j = 0; j < kIn; ++j) {
        V column[kIn], mapped[kOut];
        if (j >= tile.inside.left && j < tile.inside.right) {
#pragma GCC unroll 16
          for (int i = 0; i < kIn; ++i) {
            const float* pixel = rows[i] + j * tile.image_pixel;
            column[i] = hn::LoadU(d, pixel + v);
            if (v == 0) hwy::Prefetch(pixel + ahead * steps[i]);
          }
          kMap(column, mapped);
        } else {
#pragma GCC unroll 16
          for (int i = 0; i < kOut; ++i) mapped[i] = hn::Zero(d);
        }
#pragma GCC unroll 16
        for (int i = 0; i < kOut; ++i) half[i * kIn + j] = mapped[i];
      }
#pragma GCC unroll 16
      for (int i = 0; i < kOut; ++i) {
        V mapped[kOut];
        kMap(half + i * kIn, mapped);
#pragma GCC unroll 16
        for (int j = 0; j < kOut; ++j) {
          hn::StoreU(mapped[j], d, products + (i * kOut + j) * tile.product + v);
        }
      }
    }
#pragma GCC unroll 16
    for (int i = 0; i < kIn; ++i) rows[i] += steps[i];
  }
}

/// What becomes of the numbers that products give for a pixel.
struct SetOutput {
  explicit SetOutput(const TileFromProducts& tile)
      : bias(tile.bias), clamp_min(hn::Set(D(), tile.clamp_min)) {}

  HWY_INLINE void operator()(int channel, V value, float* pixel) const {
    const V offset = hn::Set(D(), bias == nullptr ? 0 : bias[channel]);
    hn::StoreU(at_least(clamp_min, hn::Add(value, offset)), D(), pixel);
  }

  const float* bias;
  V clamp_min;
};

struct AddToGradient {
  explicit AddToGradient(const TileFromProducts&) {}

  HWY_INLINE void operator()(int, V value, float* pixel) const {
    hn::StoreU(hn::Add(hn::LoadU(D(), pixel), value), D(), pixel);
  }
};

template <int kIn, int kOut, Map kMap, class Use>
HWY_INLINE void from_products(const TileFromProducts& tile) {
  const D d;
  const Use use(tile);
  const float* products = tile.products;
  float* image = tile.image;
  for (int channel = 0; channel < tile.channels; ++channel) {
    const std::size_t ahead = channel + kChannelsAhead < tile.channels
                                  ? kChannelsAhead * tile.image_channel
                                  : 0;
    for (int v = 0; v < kPack; v += kWidth) {
      V half[kOut * kIn];
#pragma GCC unroll 16
      for (int j = 0; j < kIn; ++j) {
        V column[kIn], mapped[kOut];
#pragma GCC unroll 16
        for (int i = 0; i < kIn; ++i) {
          column[i] = hn::LoadU(d, products + (i * kIn + j) * tile.product + v);
        }
        kMap(column, mapped);
#pragma GCC unroll 16
        for (int i = 0; i < kOut; ++i) half[i * kIn + j] = mapped[i];
      }
#pragma GCC unroll 16
      for (int i = 0; i < kOut; ++i) {
        if (i < tile.inside.top || i >= tile.inside.bottom) continue;
        V mapped[kOut];
        kMap(half + i * kIn, mapped);
#pragma GCC unroll 16
        for (int j = 0; j < kOut; ++j) {
          if (j < tile.inside.left || j >= tile.inside.right) continue;
          float* pixel = image + i * tile.image_row + j * kPack;
          use(channel, mapped[j], pixel + v);
          if (v == 0) hwy::Prefetch(pixel + ahead);
        }
      }
    }
    products += kPack;
    image += tile.image_channel;
  }
}

void source_to_products(const TileToProducts& tile) {
  with_form(tile.form, [&](auto form) HWY_ATTR {
    using F = decltype(form);
    to_products<F::kSrc, F::kProducts, F::source>(tile);
  });
}

void gradient_to_products(const TileToProducts& tile) {
  with_form(tile.form, [&](auto form) HWY_ATTR {
    using F = decltype(form);
    to_products<F::kDst, F::kProducts, F::output_turned>(tile);
  });
}

void output_from_products(const TileFromProducts& tile) {
  with_form(tile.form, [&](auto form) HWY_ATTR {
    using F = decltype(form);
    from_products<F::kProducts, F::kDst, F::output, SetOutput>(tile);
  });
}

void add_source_gradient(const TileFromProducts& tile) {
  with_form(tile.form, [&](auto form) HWY_ATTR {
    using F = decltype(form);
    from_products<F::kProducts, F::kSrc, F::source_turned, AddToGradient>(tile);
  });
}

// Taps are laid out as [channel][3][3]; vectors are to hold one tap of several channels.
// Taking every third number twice does that.
constexpr int kTaps = 9;

HWY_INLINE void load_taps(const float* HWY_RESTRICT from, V* taps) {
  const D d;
  HWY_ALIGN float turned[3][3 * kWidth];
#pragma GCC unroll 4
  for (int i = 0; i < 3; ++i) {
    V a, b, c;
    hn::LoadInterleaved3(d, from + i * 3 * kWidth, a, b, c);
    hn::Store(a, d, turned[0] + i * kWidth);
    hn::Store(b, d, turned[1] + i * kWidth);
    hn::Store(c, d, turned[2] + i * kWidth);
  }
#pragma GCC unroll 4
  for (int s = 0; s < 3; ++s) {
    hn::LoadInterleaved3(d, turned[s], taps[s], taps[3 + s], taps[6 + s]);
  }
}

HWY_INLINE void store_taps(const V* taps, float* HWY_RESTRICT to) {
  const D d;
  HWY_ALIGN float turned[3][3 * kWidth];
#pragma GCC unroll 4
  for (int s = 0; s < 3; ++s) {
    hn::StoreInterleaved3(taps[s], taps[3 + s], taps[6 + s], d, turned[s]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 3; ++i) {
    hn::StoreInterleaved3(hn::Load(d, turned[0] + i * kWidth),
                          hn::Load(d, turned[1] + i * kWidth),
                          hn::Load(d, turned[2] + i * kWidth), d, to + i * 3 * kWidth);
  }
}

/// The transform of kWidth channels' taps.
template <class F>
HWY_INLINE void some_taps_to_products(const float* from, float* products,
                                      std::size_t product) {
  const D d;
  V taps[kTaps], half[F::kProducts * 3];
  load_taps(from, taps);
#pragma GCC unroll 4
  for (int j = 0; j < 3; ++j) {
    const V column[3] = {taps[j], taps[3 + j], taps[6 + j]};
    V mapped[F::kProducts];
    F::taps(column, mapped);
#pragma GCC unroll 16
    for (int i = 0; i < F::kProducts; ++i) half[i * 3 + j] = mapped[i];
  }
#pragma GCC unroll 16
  for (int i = 0; i < F::kProducts; ++i) {
    V mapped[F::kProducts];
    F::taps(half + i * 3, mapped);
#pragma GCC unroll 16
    for (int j = 0; j < F::kProducts; ++j) {
      hn::StoreU(mapped[j], d, products + (i * F::kProducts + j) * product);
    }
  }
}

template <class F>
HWY_INLINE void some_taps_from_products(const float* products, std::size_t product,
                                        bool accumulate, float* to) {
  const D d;
  V taps[kTaps], half[3 * F::kProducts];
#pragma GCC unroll 16
  for (int j = 0; j < F::kProducts; ++j) {
    V column[F::kProducts], mapped[3];
#pragma GCC unroll 16
    for (int i = 0; i < F::kProducts; ++i) {
      column[i] = hn::LoadU(d, products + (i * F::kProducts + j) * product);
    }
    F::taps_turned(column, mapped);
#pragma GCC unroll 4
    for (int i = 0; i < 3; ++i) half[i * F::kProducts + j] = mapped[i];
  }
#pragma GCC unroll 4
  for (int i = 0; i < 3; ++i) F::taps_turned(half + i * F::kProducts, taps + 3 * i);
  if (accumulate) {
    V before[kTaps];
    load_taps(to, before);
#pragma GCC unroll 16
    for (int i = 0; i < kTaps; ++i) taps[i] = hn::Add(taps[i], before[i]);
  }
  store_taps(taps, to);
}

template <class F>
HWY_INLINE void rows_to_products(const TapsToProducts& t) {
  for (int row = 0; row < t.rows; ++row) {
    const float* from = t.taps + row * t.taps_row;
    float* products = t.products + row * t.products_row;
    int c = 0;
    for (; c + kWidth <= t.channels; c += kWidth) {
      some_taps_to_products<F>(from + c * kTaps, products + c, t.product);
    }
    if (c == t.channels) continue;
    float last[kTaps * kWidth] = {};
    std::copy(from + c * kTaps, from + t.channels * kTaps, last);
    some_taps_to_products<F>(last, products + c, t.product);
  }
}

template <class F>
HWY_INLINE void rows_from_products(const TapsFromProducts& t) {
  for (int row = 0; row < t.rows; ++row) {
    const float* products = t.products + row * t.products_row;
    float* to = t.taps + row * t.taps_row;
    int c = 0;
    for (; c + kWidth <= t.channels; c += kWidth) {
      some_taps_from_products<F>(products + c, t.product, t.accumulate, to + c * kTaps);
    }
    if (c == t.channels) continue;
    float last[kTaps * kWidth] = {};
    std::copy(to + c * kTaps, to + t.channels * kTaps, last);
    some_taps_from_products<F>(products + c, t.product, t.accumulate, last);
    std::copy(last, last + (t.channels - c) * kTaps, to + c * kTaps);
  }
}

/// A single tap is its own product.
template <>
HWY_INLINE void rows_to_products<OnePixel>(const TapsToProducts& t) {
  for (int row = 0; row < t.rows; ++row) {
    std::copy_n(t.taps + row * t.taps_row, t.channels, t.products + row * t.products_row);
  }
}

template <>
HWY_INLINE void rows_from_products<OnePixel>(const TapsFromProducts& t) {
  for (int row = 0; row < t.rows; ++row) {
    const float* products = t.products + row * t.products_row;
    float* taps = t.taps + row * t.taps_row;
    for (int c = 0; c < t.channels; ++c) {
      taps[c] = t.accumulate ? products[c] + taps[c] : products[c];
    }
  }
}

void taps_to_products(const TapsToProducts& t) {
  with_form(t.form, [&](auto form) HWY_ATTR { rows_to_products<decltype(form)>(t); });
}

void taps_from_products(const TapsFromProducts& t) {
  with_form(t.form, [&](auto form) HWY_ATTR { rows_from_products<decltype(form)>(t); });
}

}  // namespace HWY_NAMESPACE
}  // namespace convoy
HWY_AFTER_NAMESPACE();
