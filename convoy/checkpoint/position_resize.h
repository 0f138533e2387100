// SPDX-License-Identifier: Apache-2.0
//
// Position embeddings of a transformer for images of another size.

#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace convoy {

/// Whether a tensor [1][rows][channels] is a table of positions that can become `to`: a
/// class token and a square grid in each, with the same channels.
bool can_resize_positions(const std::vector<std::size_t>& from,
                          const std::vector<std::size_t>& to);

/// Resizes the grid by bicubic interpolation, as timm does (PyTorch's, without aligned
/// corners); the class token's row is copied. Requires: can_resize_positions.
void resize_positions(std::span<const float> from, std::span<float> to,
                      std::size_t channels);

}  // namespace convoy
