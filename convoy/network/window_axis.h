// SPDX-License-Identifier: Apache-2.0
//
// WindowAxis: how a convolution's window moves in one direction, and what of it reaches a
// pixel of the source.
//
// The gradient of the source at y sums the taps r that reach it: those for which
// y + padding - r * dilation is a multiple of the stride, which depends on y + padding
// modulo the stride alone. So each of these phases of the source is a convolution of its
// own over the output's gradient, with a subset of the taps, reversed.

#pragma once

#include <numeric>

#include "convoy/network/layers/window.h"

namespace convoy {

/// The taps that reach the source pixels of one phase.
struct AxisPhase {
  int first;     // of the taps
  int step;      // from one of them to the next
  int count;     // 0: these pixels reach no output
  int dilation;  // from the output of one of them to that of the next
};

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
