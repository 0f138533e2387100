// SPDX-License-Identifier: Apache-2.0
//
// Winograd's transforms, and the products that only they need, end at the bits of their
// plain reference on every instruction set that this processor has.
// winograd_matrices_test.cpp compares the reference with the forms' matrices.

#include <gtest/gtest.h>

#include "convoy/network/kernels/product.h"
#include "convoy/network/kernels/winograd.h"
#include "tests/network/kernel_tables.h"

namespace convoy {
namespace {

constexpr WinogradForm kForms[] = {WinogradForm::f4, WinogradForm::f2, WinogradForm::z2,
                                   WinogradForm::z1, WinogradForm::s4, WinogradForm::s2,
                                   WinogradForm::s1, WinogradForm::p1, WinogradForm::p2};

class WinogradTransforms : public testing::TestWithParam<KernelSet>, public Draws {
 protected:
  /// Of a tile with this side: all of it, or a part with at least one pixel.
  TileWindow window(int side) {
    const int top = draw(0, side - 1), left = draw(0, side - 1);
    return {top, draw(top + 1, side), left, draw(left + 1, side)};
  }

  /// Calls use(set) for the fast kernels and the plain ones, and compares.
  template <class Use>
  void compare(const Use& use) {
    ASSERT_EQ(bits_of(use(GetParam())), bits_of(use(KernelSet::reference)));
  }

  using ToProducts = void (*WinogradKernels::*)(const TileToProducts&);
  using FromProducts = void (*WinogradKernels::*)(const TileFromProducts&);
  void compare_to_products(WinogradForm form, int side, ToProducts kernel);
  void compare_from_products(WinogradForm form, int side, FromProducts kernel);
};

void WinogradTransforms::compare_to_products(WinogradForm form, int side,
                                             ToProducts kernel) {
  const int channels = draw(1, 5);
  const std::size_t pixel = draw(0, 1) == 0 ? kPack : kPack * kPack;
  const std::size_t row = side * pixel + kPack, channel = side * row;
  const Numbers image = numbers(channels * channel);
  const auto all = static_cast<std::size_t>(size_of(form).all_products());
  const std::size_t product = channels * kPack + kPack;
  const TileWindow inside = window(side);
  compare([&](KernelSet set) {
    Numbers products(all * product, kUntouched);
    (winograd_kernels(set).*kernel)({.form = form,
                                     .image = image.data(),
                                     .image_pixel = pixel,
                                     .image_row = row,
                                     .image_channel = channel,
                                     .inside = inside,
                                     .channels = channels,
                                     .products = products.data(),
                                     .product = product});
    return products;
  });
}

void WinogradTransforms::compare_from_products(WinogradForm form, int side,
                                               FromProducts kernel) {
  const int channels = draw(1, 5);
  const std::size_t row = (side + 1) * kPack, channel = side * row;
  const std::size_t product = channels * kPack + kPack;
  const Numbers products =
      numbers(static_cast<std::size_t>(size_of(form).all_products()) * product);
  const Numbers before = numbers(channels * channel), bias = numbers(channels);
  const TileWindow inside = window(side);
  const bool biased = draw(0, 1) == 0;
  compare([&](KernelSet set) {
    Numbers image = before;
    (winograd_kernels(set).*kernel)({.form = form,
                                     .products = products.data(),
                                     .product = product,
                                     .channels = channels,
                                     .bias = biased ? bias.data() : nullptr,
                                     .clamp_min = biased ? 0.0f : -100.0f,
                                     .image = image.data(),
                                     .image_row = row,
                                     .image_channel = channel,
                                     .inside = inside});
    return image;
  });
}

TEST_P(WinogradTransforms, TakeSourcesToProducts) {
  for (const WinogradForm form : kForms) {
    for (int i = 0; i < 40; ++i) {
      compare_to_products(form, size_of(form).src, &WinogradKernels::source_to_products);
    }
  }
}

TEST_P(WinogradTransforms, TakeGradientsToProducts) {
  for (const WinogradForm form : kForms) {
    for (int i = 0; i < 40; ++i) {
      compare_to_products(form, size_of(form).dst,
                          &WinogradKernels::gradient_to_products);
    }
  }
}

TEST_P(WinogradTransforms, TakeProductsToOutputs) {
  for (const WinogradForm form : kForms) {
    for (int i = 0; i < 40; ++i) {
      compare_from_products(form, size_of(form).dst,
                            &WinogradKernels::output_from_products);
    }
  }
}

TEST_P(WinogradTransforms, AddProductsToTheGradientOfSources) {
  for (const WinogradForm form : kForms) {
    for (int i = 0; i < 40; ++i) {
      compare_from_products(form, size_of(form).src,
                            &WinogradKernels::add_source_gradient);
    }
  }
}

TEST_P(WinogradTransforms, TakeTapsToProducts) {
  for (const WinogradForm form : kForms) {
    for (int channels = 1; channels <= 35; ++channels) {
      const int rows = draw(1, 3);
      const std::size_t taps_row = channels * size_of(form).all_taps() + draw(0, 3),
                        row = channels + 20;
      const Numbers taps = numbers(rows * taps_row);
      const auto all = static_cast<std::size_t>(size_of(form).all_products());
      compare([&](KernelSet set) {
        Numbers products(all * rows * row);
        winograd_kernels(set).taps_to_products({.form = form,
                                                .taps = taps.data(),
                                                .taps_row = taps_row,
                                                .rows = rows,
                                                .channels = channels,
                                                .products = products.data(),
                                                .product = rows * row,
                                                .products_row = row});
        // What stands behind a row's end is open.
        for (std::size_t i = 0; i < products.size(); ++i) {
          if (i % row >= static_cast<std::size_t>(channels)) products[i] = 0;
        }
        return products;
      });
    }
  }
}

TEST_P(WinogradTransforms, TakeProductsToTaps) {
  for (const WinogradForm form : kForms) {
    for (int channels = 1; channels <= 35; ++channels) {
      const int rows = draw(1, 3);
      const std::size_t taps_row = channels * size_of(form).all_taps() + draw(0, 3),
                        row = channels + 20;
      const auto all = static_cast<std::size_t>(size_of(form).all_products());
      const Numbers products = numbers(all * rows * row);
      const Numbers before = numbers(rows * taps_row + 1);
      const bool accumulate = draw(0, 1) == 0;
      compare([&](KernelSet set) {
        Numbers taps = before;
        winograd_kernels(set).taps_from_products({.form = form,
                                                  .products = products.data(),
                                                  .product = rows * row,
                                                  .products_row = row,
                                                  .rows = rows,
                                                  .channels = channels,
                                                  .taps = taps.data(),
                                                  .taps_row = taps_row,
                                                  .accumulate = accumulate});
        return taps;
      });
    }
  }
}

TEST_P(WinogradTransforms, MultiplyPiecesAndColumns) {
  for (int rows = 1; rows <= 26; ++rows) {
    const int depth = draw(1, 20), pieces = draw(1, 5);
    const bool turned = rows % 2 == 0;
    const auto stride = static_cast<std::size_t>(turned ? rows + draw(0, 3) + 1 : 1);
    const auto row = static_cast<std::size_t>(turned ? 1 : depth + draw(0, 3));
    const std::size_t a_piece = turned ? depth * stride : rows * row;
    const std::size_t b_piece = depth * kPack + 16;
    const Numbers a = numbers(pieces * a_piece), b = numbers(pieces * b_piece);
    const Numbers before = numbers(static_cast<std::size_t>(rows) * kPack);
    compare([&](KernelSet set) {
      Numbers dst = before;
      product_kernels(set).product({.a = a.data(),
                                    .a_row = row,
                                    .a_stride = stride,
                                    .b = b.data(),
                                    .dst = dst.data(),
                                    .dst_row = kPack,
                                    .rows = rows,
                                    .depth = depth,
                                    .accumulate = rows % 3 == 0,
                                    .pieces = pieces,
                                    .a_piece = a_piece,
                                    .b_piece = b_piece,
                                    .next_b = rows % 5 == 0 ? b.data() : nullptr});
      return dst;
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, WinogradTransforms, testing::ValuesIn(fast_kernel_sets()),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace
}  // namespace convoy
