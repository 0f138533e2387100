// SPDX-License-Identifier: Apache-2.0
//
// The plain Winograd transforms multiply by the forms' matrices. The fast ones have the
// same bits (winograd_kernels_test.cpp).

#include "tests/network/winograd_matrices.h"

#include <gtest/gtest.h>

#include "tests/network/kernel_tables.h"

namespace convoy {
namespace {

using winograd_matrices::form_of;
using winograd_matrices::Matrix;
using winograd_matrices::transformed;

// Numbers are in [-1, 1). A transform's result is at most the square of the largest sum
// of a matrix' row (of f4: 16); each of its some thirty roundings errs by 6e-8 of that.
constexpr double kTolerance = 1e-5;

class WinogradReference : public testing::TestWithParam<WinogradForm>, public Draws {
 protected:
  using ToProducts = void (*WinogradKernels::*)(const TileToProducts&);
  using FromProducts = void (*WinogradKernels::*)(const TileFromProducts&);

  void expect_to_products(ToProducts kernel, const Matrix& left);
  void expect_from_products(FromProducts kernel, const Matrix& left, bool adds);

  const WinogradKernels& plain_ = winograd_kernels(KernelSet::reference);
  const WinogradForm form_ = GetParam();
};

// All pixels but the first row and column are inside.
void WinogradReference::expect_to_products(ToProducts kernel, const Matrix& left) {
  const int side = left.columns, first = side > 1 ? 1 : 0;
  const std::size_t row = static_cast<std::size_t>(side) * kPack;
  const Numbers image = numbers(side * row);
  Numbers products(static_cast<std::size_t>(left.rows) * left.rows * kPack);

  (plain_.*kernel)({.form = form_,
                    .image = image.data(),
                    .image_pixel = kPack,
                    .image_row = row,
                    .image_channel = 0,
                    .inside = {first, side, first, side},
                    .channels = 1,
                    .products = products.data(),
                    .product = kPack});

  for (int i = 0; i < left.rows * left.rows * kPack; ++i) {
    const auto pixel = [&](int y, int x) {
      const bool inside = y >= first && x >= first;
      return inside ? static_cast<double>(image[y * row + x * kPack + i % kPack]) : 0.0;
    };
    const int product = i / kPack;
    ASSERT_NEAR(products[i],
                transformed(left, product / left.rows, product % left.rows, pixel),
                kTolerance)
        << "element " << i;
  }
}

void WinogradReference::expect_from_products(FromProducts kernel, const Matrix& left,
                                             bool adds) {
  const int side = left.rows, depth = left.columns;
  const Numbers products = numbers(static_cast<std::size_t>(depth) * depth * kPack);
  const Numbers before = numbers(static_cast<std::size_t>(side) * side * kPack);
  const Numbers bias = {0.25f};
  Numbers image = before;

  (plain_.*kernel)({.form = form_,
                    .products = products.data(),
                    .product = kPack,
                    .channels = 1,
                    .bias = bias.data(),
                    .clamp_min = kNoClamp,
                    .image = image.data(),
                    .image_row = static_cast<std::size_t>(side) * kPack,
                    .image_channel = 0,
                    .inside = {0, side, 0, side}});

  for (int i = 0; i < side * side * kPack; ++i) {
    const auto product = [&](int r, int s) {
      return static_cast<double>(products[(r * depth + s) * kPack + i % kPack]);
    };
    const double added = static_cast<double>(adds ? before[i] : bias[0]);
    const int pixel = i / kPack;
    ASSERT_NEAR(image[i], added + transformed(left, pixel / side, pixel % side, product),
                kTolerance)
        << "element " << i;
  }
}

TEST_P(WinogradReference, TakesSourcesToProducts) {
  expect_to_products(&WinogradKernels::source_to_products, form_of(form_).source);
}

TEST_P(WinogradReference, TakesGradientsToProducts) {
  expect_to_products(&WinogradKernels::gradient_to_products,
                     form_of(form_).output.turned());
}

TEST_P(WinogradReference, TakesProductsToOutputs) {
  expect_from_products(&WinogradKernels::output_from_products, form_of(form_).output,
                       /*adds=*/false);
}

TEST_P(WinogradReference, AddsProductsToTheGradientOfSources) {
  expect_from_products(&WinogradKernels::add_source_gradient,
                       form_of(form_).source.turned(),
                       /*adds=*/true);
}

TEST_P(WinogradReference, TakesTapsToProducts) {
  const Matrix left = form_of(form_).taps;
  const Numbers taps = numbers(static_cast<std::size_t>(left.columns) * left.columns);
  Numbers products(static_cast<std::size_t>(left.rows) * left.rows);

  plain_.taps_to_products({.form = form_,
                           .taps = taps.data(),
                           .taps_row = taps.size(),
                           .rows = 1,
                           .channels = 1,
                           .products = products.data(),
                           .product = 1,
                           .products_row = 0});

  const auto tap = [&](int r, int s) {
    return static_cast<double>(taps[r * left.columns + s]);
  };
  for (int i = 0; i < left.rows * left.rows; ++i) {
    ASSERT_NEAR(products[i], transformed(left, i / left.rows, i % left.rows, tap),
                kTolerance);
  }
}

TEST_P(WinogradReference, AddsProductsToTaps) {
  const Matrix left = form_of(form_).taps.turned();
  const Numbers products = numbers(static_cast<std::size_t>(left.columns) * left.columns);
  const Numbers before = numbers(static_cast<std::size_t>(left.rows) * left.rows);
  Numbers taps = before;

  plain_.taps_from_products({.form = form_,
                             .products = products.data(),
                             .product = 1,
                             .products_row = 0,
                             .rows = 1,
                             .channels = 1,
                             .taps = taps.data(),
                             .taps_row = taps.size(),
                             .accumulate = true});

  const auto product = [&](int r, int s) {
    return static_cast<double>(products[r * left.columns + s]);
  };
  for (int i = 0; i < left.rows * left.rows; ++i) {
    ASSERT_NEAR(taps[i],
                static_cast<double>(before[i]) +
                    transformed(left, i / left.rows, i % left.rows, product),
                kTolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, WinogradReference,
                         testing::Values(WinogradForm::f4, WinogradForm::f2,
                                         WinogradForm::z2, WinogradForm::z1,
                                         WinogradForm::s4, WinogradForm::s2,
                                         WinogradForm::s1, WinogradForm::p1,
                                         WinogradForm::p2));

}  // namespace
}  // namespace convoy
