// SPDX-License-Identifier: Apache-2.0
//
// Winograd's 3x3 convolutions: what their kernels take.
//
// A convolution with 3x3 taps of a small tile is a linear map in the tile and in the
// taps, so it can be computed with fewer multiplications:
//
//   dst = A^T [ (G taps G^T) . (B^T src B) ] A         (. element by element)
//
// summed over source channels between the brackets, where it is one matrix product for
// each of the elements ("products"). The gradients are the transposed map, with dM = A
// (dst gradient) A^T:
//
//   src gradient  = B  [ (G taps G^T) . dM ] B^T       summed over output channels,
//   taps gradient = G^T [ dM . (B^T src B) ] G         summed over images and tiles.

#pragma once

#include <cstddef>

#include "convoy/network/kernels/kernels.h"

namespace convoy {

/// f4 computes 4 x 4 outputs with 36 products (points 0, 5/8, -5/8, 3/2, -3/2, infinity:
/// a third of the error of the usual 0, 1, -1, 2, -2), f2 2 x 2 outputs with 16.
/// z2 and z1 are for whole images of 2 x 2 and 1 x 1 pixels within a frame of zeros, of
/// which most taps see only zeros: 9 products and 1.
/// s4, s2 and s1 are for convolutions of stride 2: 4 x 4 outputs with 81 products, 2 x 2
/// with 25, and images of 2 x 2 pixels within a frame of zeros, which have one output,
/// with 4.
/// p1 and p2 are for a single tap, of stride 1 and 2: nothing is saved, but what is a
/// matrix product is computed as one.
enum class WinogradForm { f4, f2, z2, z1, s4, s2, s1, p1, p2 };

/// How many numbers a form has along each side.
struct WinogradSize {
  int src, products, dst;  // of a tile
  int stride = 1;          // of the convolution
  int taps = 3;            // of it, along each side

  int all_products() const { return products * products; }
  int all_taps() const { return taps * taps; }
};

constexpr WinogradSize size_of(WinogradForm form) {
  switch (form) {
    case WinogradForm::f4:
      return {6, 6, 4};
    case WinogradForm::f2:
      return {4, 4, 2};
    case WinogradForm::z2:
      return {2, 3, 2};
    case WinogradForm::z1:
      return {1, 1, 1};
    case WinogradForm::s4:
      return {9, 9, 4, 2};
    case WinogradForm::s2:
      return {5, 5, 2, 2};
    case WinogradForm::s1:
      return {2, 2, 1, 2};
    case WinogradForm::p1:
      return {1, 1, 1, 1, 1};
    default:
      return {1, 1, 1, 2, 1};
  }
}

/// The rows and columns of a tile that lie inside the image.
struct TileWindow {
  int top, bottom, left, right;
};

/// One tile of several channels, from the image to its products:
/// products[i][channel] = (L tile L^T)[i] with L = B^T for a source, A for the gradient
/// of an output. Pixels outside the window count as zero and are not read.
struct TileToProducts {
  WinogradForm form;
  const float* image;  // the tile's first pixel, be it inside or not: sixteen numbers
  std::size_t image_pixel, image_row, image_channel;  // strides
  TileWindow inside;
  int channels;
  float* products;      // [product][channel][16]
  std::size_t product;  // from one product to the next
};

/// One tile of several channels, from its products to the image. Pixels outside the
/// window are not written.
struct TileFromProducts {
  WinogradForm form;
  const float* products;
  std::size_t product;
  int channels;
  const float* bias;  // of the first channel; nullptr counts as zeros
  float clamp_min;    // as in ConvolutionRow
  float* image;
  std::size_t image_row, image_channel;
  TileWindow inside;
};

/// Taps [row][channel][3][3], or [row][channel] where there is only one, to products
/// [product][row][channel]: G taps G^T.
/// May write rows of products up to the next multiple of kPack channels.
struct TapsToProducts {
  WinogradForm form;
  const float* taps;
  std::size_t taps_row;
  int rows, channels;
  float* products;
  std::size_t product, products_row;
};

/// The reverse, for gradients: G^T products G. May read rows of products as far.
struct TapsFromProducts {
  WinogradForm form;
  const float* products;
  std::size_t product, products_row;
  int rows, channels;
  float* taps;
  std::size_t taps_row;
  bool accumulate;  // add to the taps instead of overwriting them
};

struct WinogradKernels {
  void (*source_to_products)(const TileToProducts&);
  void (*gradient_to_products)(const TileToProducts&);
  /// dst = max(clamp_min, bias + A^T products A).
  void (*output_from_products)(const TileFromProducts&);
  /// dst += B products B^T.
  void (*add_source_gradient)(const TileFromProducts&);
  void (*taps_to_products)(const TapsToProducts&);
  void (*taps_from_products)(const TapsFromProducts&);
};

const WinogradKernels& winograd_kernels(KernelSet set);

}  // namespace convoy
