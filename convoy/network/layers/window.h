// SPDX-License-Identifier: Apache-2.0
//
// Windows that move over an image: what convolutions and pools share.

#pragma once

#include <map>
#include <string>

#include "convoy/base/shape.h"

namespace convoy {

/// The output size of a window that moves by `stride` over a source of this size.
inline int window_positions(int side, int window, int stride, int padding) {
  return (side + 2 * padding - window) / stride + 1;
}

/// Throws InputError if an image is smaller than `smallest` on a side.
void refuse_small_image(const std::string& layer, Shape src, int smallest);

/// A window's options for TensorBoard's graph.
std::map<std::string, std::string> window_details(int size, int stride, int padding);

}  // namespace convoy
