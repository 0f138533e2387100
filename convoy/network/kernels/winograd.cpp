// SPDX-License-Identifier: Apache-2.0
//
// Functions of the reference are inlined into those that are compiled CONVOY_WITH_FMA.

#include "convoy/network/kernels/winograd.h"

#include <algorithm>

#include "convoy/network/kernels/reference_arithmetic.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "convoy/network/kernels/winograd.cpp"
#include "convoy/network/kernels/targets.h"

#if CONVOY_VECTORS
#include "convoy/network/kernels/arithmetic_inl.h"
//
#include "convoy/network/kernels/winograd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace convoy {
namespace HWY_NAMESPACE {

const WinogradKernels kWinograd = {source_to_products,   gradient_to_products,
                                   output_from_products, add_source_gradient,
                                   taps_to_products,     taps_from_products};

}  // namespace HWY_NAMESPACE
}  // namespace convoy
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace convoy::reference {
namespace {

#include "convoy/network/kernels/winograd_forms.inc"

/// Multiplies kIn numbers by a matrix of kOut rows.
using Map = void (*)(const float*, float*);

/// dst = M src M^T of a matrix src of kIn x kIn numbers. Columns outside `has` are zeros
/// and are not multiplied, so that these zeros are positive.
template <int kIn, int kOut, Map kMap>
[[gnu::always_inline]] inline void transform(const float (&src)[kIn][kIn], TileWindow has,
                                             float (&dst)[kOut][kOut]) {
  float half[kOut][kIn] = {};
  for (int j = has.left; j < has.right; ++j) {
    float column[kIn], mapped[kOut];
    for (int i = 0; i < kIn; ++i) column[i] = src[i][j];
    kMap(column, mapped);
    for (int i = 0; i < kOut; ++i) half[i][j] = mapped[i];
  }
  for (int i = 0; i < kOut; ++i) kMap(half[i], dst[i]);
}

template <int kIn, int kOut, Map kMap>
[[gnu::always_inline]] inline void to_products(const TileToProducts& tile) {
  const TileWindow& inside = tile.inside;
  for (int n = 0; n < tile.channels * kPack; ++n) {
    const float* image = tile.image + n / kPack * tile.image_channel + n % kPack;
    float pixels[kIn][kIn] = {}, products[kOut][kOut];
    for (int y = inside.top; y < inside.bottom; ++y) {
      for (int x = inside.left; x < inside.right; ++x) {
        pixels[y][x] = image[y * tile.image_row + x * tile.image_pixel];
      }
    }
    transform<kIn, kOut, kMap>(pixels, inside, products);
    for (int i = 0; i < kOut * kOut; ++i) {
      tile.products[i * tile.product + n] = products[i / kOut][i % kOut];
    }
  }
}

/// Calls use(channel, pixel of the image, what the products give for it).
template <int kIn, int kOut, Map kMap, class Use>
[[gnu::always_inline]] inline void from_products(const TileFromProducts& tile,
                                                 const Use& use) {
  const TileWindow& inside = tile.inside;
  for (int n = 0; n < tile.channels * kPack; ++n) {
    const int channel = n / kPack;
    float* image = tile.image + channel * tile.image_channel + n % kPack;
    float products[kIn][kIn], pixels[kOut][kOut];
    for (int i = 0; i < kIn * kIn; ++i) {
      products[i / kIn][i % kIn] = tile.products[i * tile.product + n];
    }
    transform<kIn, kOut, kMap>(products, {0, kIn, 0, kIn}, pixels);
    for (int y = inside.top; y < inside.bottom; ++y) {
      for (int x = inside.left; x < inside.right; ++x) {
        use(channel, image[y * tile.image_row + x * kPack], pixels[y][x]);
      }
    }
  }
}

template <class F>
[[gnu::always_inline]] inline void all_taps_to_products(const TapsToProducts& t) {
  constexpr int kSide = F::kTaps, kProducts = F::kProducts;
  for (int n = 0; n < t.rows * t.channels; ++n) {
    const int row = n / t.channels, c = n % t.channels;
    float taps[kSide][kSide], products[kProducts][kProducts];
    std::copy_n(t.taps + row * t.taps_row + c * kSide * kSide, kSide * kSide, taps[0]);
    transform<kSide, kProducts, F::taps>(taps, {0, kSide, 0, kSide}, products);
    for (int i = 0; i < kProducts * kProducts; ++i) {
      t.products[i * t.product + row * t.products_row + c] =
          products[i / kProducts][i % kProducts];
    }
  }
}

template <class F>
[[gnu::always_inline]] inline void all_taps_from_products(const TapsFromProducts& t) {
  constexpr int kSide = F::kTaps, kProducts = F::kProducts;
  for (int n = 0; n < t.rows * t.channels; ++n) {
    const int row = n / t.channels, c = n % t.channels;
    float products[kProducts][kProducts], taps[kSide][kSide];
    for (int i = 0; i < kProducts * kProducts; ++i) {
      products[i / kProducts][i % kProducts] =
          t.products[i * t.product + row * t.products_row + c];
    }
    transform<kProducts, kSide, F::taps_turned>(products, {0, kProducts, 0, kProducts},
                                                taps);
    for (int i = 0; i < kSide * kSide; ++i) {
      float& tap = t.taps[row * t.taps_row + c * kSide * kSide + i];
      const float gradient = taps[i / kSide][i % kSide];
      tap = t.accumulate ? gradient + tap : gradient;
    }
  }
}

CONVOY_WITH_FMA void source_to_products(const TileToProducts& tile) {
  with_form(
      tile.form, [&](auto form) __attribute__((always_inline)) {
        using F = decltype(form);
        to_products<F::kSrc, F::kProducts, F::source>(tile);
      });
}

CONVOY_WITH_FMA void gradient_to_products(const TileToProducts& tile) {
  with_form(
      tile.form, [&](auto form) __attribute__((always_inline)) {
        using F = decltype(form);
        to_products<F::kDst, F::kProducts, F::output_turned>(tile);
      });
}

CONVOY_WITH_FMA void output_from_products(const TileFromProducts& tile) {
  const auto set = [&](int channel, float& pixel, float value)
      __attribute__((always_inline)) {
    pixel =
        at_least(tile.clamp_min, value + (tile.bias == nullptr ? 0 : tile.bias[channel]));
  };
  with_form(
      tile.form, [&](auto form) __attribute__((always_inline)) {
        using F = decltype(form);
        from_products<F::kProducts, F::kDst, F::output>(tile, set);
      });
}

CONVOY_WITH_FMA void add_source_gradient(const TileFromProducts& tile) {
  const auto add_to = [](int, float& pixel, float value) { pixel += value; };
  with_form(
      tile.form, [&](auto form) __attribute__((always_inline)) {
        using F = decltype(form);
        from_products<F::kProducts, F::kSrc, F::source_turned>(tile, add_to);
      });
}

CONVOY_WITH_FMA void taps_to_products(const TapsToProducts& t) {
  with_form(
      t.form, [&](auto form) __attribute__((always_inline)) {
        all_taps_to_products<decltype(form)>(t);
      });
}

CONVOY_WITH_FMA void taps_from_products(const TapsFromProducts& t) {
  with_form(
      t.form, [&](auto form) __attribute__((always_inline)) {
        all_taps_from_products<decltype(form)>(t);
      });
}

}  // namespace

const WinogradKernels kWinograd = {source_to_products,   gradient_to_products,
                                   output_from_products, add_source_gradient,
                                   taps_to_products,     taps_from_products};

}  // namespace convoy::reference

CONVOY_KERNELS_OF(WinogradKernels, winograd_kernels, kWinograd)
#endif
