// SPDX-License-Identifier: Apache-2.0
//
// Copies the tokens of one head between an activation, [pack][feature][16 rows], and
// panels of sixteen tokens of one sequence, which lie in one pack or two.

#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "convoy/network/kernels/point/lanes.h"
#include "convoy/network/row_copy.h"

namespace convoy {

/// Copies some lanes of `size` features.
struct LaneCopy {
  const float* from;
  std::size_t from_feature;  // from one feature to the next
  float* to;
  std::size_t to_feature;
  std::size_t size;
};

/// A copy of as many bytes as the compiler knows is a few moves.
template <std::size_t kCount>
void copy_lanes(const LaneCopy& copy) {
  for (std::size_t f = 0; f < copy.size; ++f) {
    std::memcpy(copy.to + f * copy.to_feature, copy.from + f * copy.from_feature,
                kCount * sizeof(float));
  }
}

template <std::size_t... kBefore>
constexpr auto lane_copies(std::index_sequence<kBefore...>) {
  return std::array{&copy_lanes<kBefore + 1>...};
}

/// kLaneCopies[n - 1] copies n lanes.
inline constexpr auto kLaneCopies = lane_copies(std::make_index_sequence<kPack>());

/// Panels of one head's tokens. Number `f` of token `t` is at
/// [t / 16 * panel + f * feature + t % 16].
struct PanelLayout {
  std::size_t panel, feature;
};

class TokenPanels {
 public:
  TokenPanels(std::size_t tokens, std::size_t size) : tokens_(tokens), size_(size) {}

  std::size_t tokens() const { return tokens_; }
  std::size_t count() const { return (tokens_ + kPack - 1) / kPack; }
  std::size_t tokens_in(std::size_t panel) const {
    return std::min<std::size_t>(kPack, tokens_ - panel * kPack);
  }

  /// One panel after the other: what products read as their right side.
  PanelLayout narrow() const { return {size_ * kPack, kPack}; }
  /// All tokens of a feature one after the other: what products read as their left side.
  /// Features are an odd number of cache lines apart, or they would share few places of
  /// the cache.
  PanelLayout wide() const { return {kPack, (count() | 1) * kPack}; }
  std::size_t wide_floats() const { return size_ * wide().feature; }

  /// Features [channel, channel + size) of a sequence's tokens. What fills up the last
  /// panel is zero.
  void gather(const LaneKernels& kernels, const float* src, std::size_t features,
              std::size_t channel, std::size_t sequence, PanelLayout layout,
              float* panels) const {
    for (std::size_t panel = 0; panel < tokens_ / kPack; ++panel) {
      const std::size_t row = sequence * tokens_ + panel * kPack;
      const std::size_t before = kPack - row % kPack;
      kernels.join({.first = src + row_offset(row, features, channel),
                    .second = src + row_offset(row + before, features, channel),
                    .before = static_cast<int>(before),
                    .dst = panels + panel * layout.panel,
                    .dst_row = layout.feature,
                    .rows = size_});
    }
    if (tokens_ % kPack > 0)
      gather_last(src, features, channel, sequence, layout, panels);
  }

  /// The reverse, of one panel whose features are sixteen numbers apart.
  void scatter(const float* values, std::size_t panel, std::size_t features,
               std::size_t channel, std::size_t sequence, float* dst) const {
    for_runs(sequence, panel, [&](std::size_t row, std::size_t lane) -> LaneCopy {
      return {values + lane, kPack, dst + row_offset(row, features, channel), kPack,
              size_};
    });
  }

 private:
  void gather_last(const float* src, std::size_t features, std::size_t channel,
                   std::size_t sequence, PanelLayout layout, float* panels) const {
    float* last = panels + (count() - 1) * layout.panel;
    for (std::size_t f = 0; f < size_; ++f) {
      std::fill_n(last + f * layout.feature, kPack, 0.0f);
    }
    for_runs(sequence, count() - 1, [&](std::size_t row, std::size_t lane) -> LaneCopy {
      return {src + row_offset(row, features, channel), kPack, last + lane,
              layout.feature, size_};
    });
  }

  /// Copies what copy_of(row, lane) says, for the run of rows in each pack.
  template <class CopyOf>
  void for_runs(std::size_t sequence, std::size_t panel, const CopyOf& copy_of) const {
    const std::size_t first = sequence * tokens_ + panel * kPack;
    const std::size_t count = tokens_in(panel);
    const std::size_t before = std::min(count, kPack - first % kPack);
    kLaneCopies[before - 1](copy_of(first, 0));
    if (before < count) {
      kLaneCopies[count - before - 1](copy_of(first + before, before));
    }
  }

  std::size_t tokens_, size_;
};

}  // namespace convoy
