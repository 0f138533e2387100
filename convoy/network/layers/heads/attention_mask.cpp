// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/heads/attention_mask.h"

#include <algorithm>

#include "convoy/network/kernels/kernels.h"

namespace convoy {
namespace {

/// `first` is the window's first row.
bool sees(const Attention& layer, std::size_t first, std::size_t query, std::size_t key) {
  if (layer.causal && key > query) return false;
  if (layer.regions.empty()) return true;
  const int region = layer.regions[first + query];
  return region >= 0 && region == layer.regions[first + key];
}

}  // namespace

AttentionMask::AttentionMask(const Attention& layer, std::size_t tokens)
    : tokens_(tokens),
      panels_((tokens + kPack - 1) / kPack),
      windows_(layer.regions.empty() ? 1 : static_cast<std::size_t>(layer.windows)) {
  if (!layer.causal && layer.regions.empty()) return;
  for (std::size_t i = 0; i < windows_ * panels_; ++i) {
    add_panel(layer, i / panels_, i % panels_);
  }
}

void AttentionMask::add_panel(const Attention& layer, std::size_t window,
                              std::size_t panel) {
  const std::size_t first = panel * kPack;
  const std::size_t queries = std::min<std::size_t>(kPack, tokens_ - first);
  std::size_t keys = 1;
  for (std::size_t key = 0; key < tokens_; ++key) {
    unsigned bits = 0;
    for (std::size_t i = 0; i < queries; ++i) {
      if (sees(layer, window * tokens_, first + i, key)) bits |= 1u << i;
    }
    if (bits != 0) keys = key + 1;
    seen_.push_back(static_cast<std::uint16_t>(bits));
  }
  keys_.push_back(keys);
}

}  // namespace convoy
