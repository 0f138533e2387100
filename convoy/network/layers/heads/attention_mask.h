// SPDX-License-Identifier: Apache-2.0
//
// AttentionMask: which keys a query sees, for sixteen queries at a time.

#pragma once

#include <cstdint>
#include <vector>

#include "convoy/network/layers/attention.h"

namespace convoy {

class AttentionMask {
 public:
  /// Windows have so many tokens.
  AttentionMask(const Attention& layer, std::size_t tokens);

  bool empty() const { return seen_.empty(); }

  /// By key, one bit per query of the panel: whether it sees the key. nullptr: all do.
  const std::uint16_t* seen(std::size_t window, std::size_t panel) const {
    return empty() ? nullptr : seen_.data() + place(window, panel) * tokens_;
  }
  /// No query of the panel sees later keys. At least 1.
  std::size_t keys(std::size_t window, std::size_t panel) const {
    return empty() ? tokens_ : keys_[place(window, panel)];
  }

 private:
  std::size_t place(std::size_t window, std::size_t panel) const {
    return window % windows_ * panels_ + panel;
  }
  void add_panel(const Attention& layer, std::size_t window, std::size_t panel);

  std::size_t tokens_, panels_;
  std::size_t windows_;  // that have masks of their own; else all have the first one's
  std::vector<std::uint16_t> seen_;
  std::vector<std::size_t> keys_;
};

}  // namespace convoy
