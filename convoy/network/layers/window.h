// SPDX-License-Identifier: Apache-2.0
//
// Windows that move over an image: what convolutions and pools share.
//
// Their options are written as PyTorch's: one number, or one per side.
//
//   Convolution{.kernel = 3, .padding = 1}
//   Convolution{.kernel = {1, 7}, .padding = {0, 3}}            // height, width
//   MaxPool{.window = 3, .stride = 2, .padding = {0, 0, 1, 1}}  // top, left, bottom,
//   right

#pragma once

#include <map>
#include <numeric>
#include <string>

#include "convoy/base/shape.h"
#include "convoy/network/layer_options.h"

namespace convoy {

/// A height and a width.
struct Extent {
  Extent(int both) : height(both), width(both) {}
  Extent(int high, int wide) : height(high), width(wide) {}

  bool is_square() const { return height == width; }
  std::size_t pixels() const { return static_cast<std::size_t>(height) * width; }
  bool operator==(const Extent&) const = default;

  int height, width;
};

/// What surrounds an image, in pixels.
struct Padding {
  Padding(int all) : Padding(all, all, all, all) {}
  Padding(int high, int wide) : Padding(high, wide, high, wide) {}
  Padding(int above, int before, int below, int behind)
      : top(above), left(before), bottom(below), right(behind) {}

  bool is_even() const { return *this == Padding(top); }
  bool operator==(const Padding&) const = default;

  int top, left, bottom, right;
};

/// In files: a whole number, or a list of one per side.
void read_option(const char* layer, const LayerOptions& options, const char* name,
                 Extent& value);
void read_option(const char* layer, const LayerOptions& options, const char* name,
                 Padding& value);
OptionValue option_value(const Extent& value);
OptionValue option_value(const Padding& value);

/// A window and how it moves.
struct Window {
  Extent size, stride;
  Padding padding;
  Extent dilation = 1;
  bool ceil_mode = false;  // the last position may reach beyond the padding

  /// What the window spans, with the pixels that dilation leaves out.
  Extent span() const {
    return {(size.height - 1) * dilation.height + 1,
            (size.width - 1) * dilation.width + 1};
  }
  /// How many positions it has. Requires: it fits.
  Extent positions(Shape src) const;
  /// Source and padding, and what positions reach beyond them.
  Extent framed(Shape src) const;
};

/// Throws InputError if a window is not possible, or larger than the image with its
/// padding.
void refuse_window(const std::string& layer, Shape src, const Window& window);

/// Throws InputError unless a pool's window fits as well, and none of its positions lies
/// wholly in the padding.
void refuse_pool_window(const std::string& layer, Shape src, const Window& window);

/// A window's options for TensorBoard's graph: "3", "1x7", "0,0,1,1".
std::map<std::string, std::string> window_details(const Window& window);

// The gradient of a convolution's source at y sums the taps r that reach it: those for
// which y + padding - r * dilation is a multiple of the stride, which depends on
// y + padding modulo the stride alone. So each of these phases of the source is a
// convolution of its own over the output's gradient, with a subset of the taps, reversed.

/// The taps that reach the source pixels of one phase, in one direction.
struct AxisPhase {
  int first;     // of the taps
  int step;      // from one of them to the next
  int count;     // 0: these pixels reach no output
  int dilation;  // from the output of one of them to that of the next
};

/// How a window moves in one direction.
struct WindowAxis {
  int taps, stride, dilation, padding;

  static WindowAxis rows_of(const Window& window) {
    return {window.size.height, window.stride.height, window.dilation.height,
            window.padding.top};
  }
  static WindowAxis columns_of(const Window& window) {
    return {window.size.width, window.stride.width, window.dilation.width,
            window.padding.left};
  }

  /// There are as many phases as the stride has pixels.
  int phase_number(int pixel) const { return (pixel + padding) % stride; }

  AxisPhase phase(int number) const {
    const int common = std::gcd(stride, dilation), step = stride / common;
    int first = 0;
    while (first < step && first * dilation % stride != number) ++first;
    const int count = first < step && first < taps ? (taps - first + step - 1) / step : 0;
    return {first, step, count, dilation / common};
  }
  /// The first pixel of the source in a phase.
  int first_pixel(int number) const {
    return ((number - padding) % stride + stride) % stride;
  }
  /// The first output that reaches a pixel: by the last of its phase's taps.
  int first_output(const AxisPhase& phase, int pixel) const {
    const int last = phase.first + (phase.count - 1) * phase.step;
    return (pixel + padding - last * dilation) / stride;
  }
};

}  // namespace convoy
