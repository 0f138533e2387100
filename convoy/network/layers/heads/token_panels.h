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
template <class Number>
struct LaneCopy {
  const Number* from;
  std::size_t from_feature;  // from one feature to the next
  Number* to;
  std::size_t to_feature;
  std::size_t size;
};

/// A copy of as many bytes as the compiler knows is a few moves.
template <class Number, std::size_t kCount>
void copy_lanes(const LaneCopy<Number>& copy) {
  for (std::size_t f = 0; f < copy.size; ++f) {
    std::memcpy(copy.to + f * copy.to_feature, copy.from + f * copy.from_feature,
                kCount * sizeof(Number));
  }
}

template <class Number, std::size_t... kBefore>
constexpr auto lane_copies(std::index_sequence<kBefore...>) {
  return std::array{&copy_lanes<Number, kBefore + 1>...};
}

/// kLaneCopies[n - 1] copies n lanes.
template <class Number>
inline constexpr auto kLaneCopies =
    lane_copies<Number>(std::make_index_sequence<kPack>());

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

  /// What gather() and scatter() need of a thread's buffer for tokens of 16 bits.
  std::size_t buffer_floats() const { return (tokens_ / kPack + 2) * size_ * kPack; }

  /// Features [channel, channel + size) of a sequence's tokens. What fills up the last
  /// panel is zero.
  void gather(const LaneKernels& kernels, const Stored& src, std::size_t features,
              std::size_t channel, std::size_t sequence, PanelLayout layout,
              float* buffer, float* panels) const {
    const std::size_t first = sequence * tokens_;
    if (src.is_fp32()) {
      gather_rows_from(kernels, {src, features, channel, first}, layout, panels);
      return;
    }
    const std::size_t size = size_ * kPack;
    for (std::size_t pack = first / kPack; pack * kPack < first + tokens_; ++pack) {
      src.read((pack * features + channel) * kPack, size,
               buffer + (pack - first / kPack) * size);
    }
    gather_rows_from(kernels, {buffer, size_, 0, first % kPack}, layout, panels);
  }

  /// The reverse, of one panel whose features are sixteen numbers apart.
  void scatter(const float* values, std::size_t panel, std::size_t features,
               std::size_t channel, std::size_t sequence, float* buffer,
               const Stored& dst) const {
    if (dst.is_fp32()) {
      scatter_lanes(values, panel, features, channel, sequence, static_cast<float*>(dst));
      return;
    }
    auto* rounded = reinterpret_cast<std::uint16_t*>(buffer);
    convoy::narrow(dst.dtype(), values, rounded, size_ * kPack);
    scatter_lanes(rounded, panel, features, channel, sequence, dst.halves());
  }

 private:
  /// Rows from number `first` on, of which `channel` is the first feature that counts.
  struct Rows {
    const float* src;
    std::size_t features, channel, first;
  };

  void gather_rows_from(const LaneKernels& kernels, const Rows& of, PanelLayout layout,
                        float* panels) const {
    const auto [src, features, channel, first] = of;
    for (std::size_t panel = 0; panel < tokens_ / kPack; ++panel) {
      const std::size_t row = first + panel * kPack;
      const std::size_t before = kPack - row % kPack;
      kernels.join({.first = src + row_offset(row, features, channel),
                    .second = src + row_offset(row + before, features, channel),
                    .before = static_cast<int>(before),
                    .dst = panels + panel * layout.panel,
                    .dst_row = layout.feature,
                    .rows = size_});
    }
    if (tokens_ % kPack > 0) gather_last(of, layout, panels);
  }

  template <class Number>
  void scatter_lanes(const Number* values, std::size_t panel, std::size_t features,
                     std::size_t channel, std::size_t sequence, Number* dst) const {
    for_runs<Number>(sequence * tokens_, panel, [&](std::size_t row, std::size_t lane) {
      return LaneCopy<Number>{values + lane, kPack,
                              dst + row_offset(row, features, channel), kPack, size_};
    });
  }

  void gather_last(const Rows& of, PanelLayout layout, float* panels) const {
    float* last = panels + (count() - 1) * layout.panel;
    for (std::size_t f = 0; f < size_; ++f) {
      std::fill_n(last + f * layout.feature, kPack, 0.0f);
    }
    for_runs<float>(of.first, count() - 1, [&](std::size_t row, std::size_t lane) {
      return LaneCopy<float>{of.src + row_offset(row, of.features, of.channel), kPack,
                             last + lane, layout.feature, size_};
    });
  }

  /// Copies what copy_of(row, lane) says, for the run of rows in each pack.
  template <class Number, class CopyOf>
  void for_runs(std::size_t first_row, std::size_t panel, const CopyOf& copy_of) const {
    const std::size_t first = first_row + panel * kPack;
    const std::size_t count = tokens_in(panel);
    const std::size_t before = std::min(count, kPack - first % kPack);
    kLaneCopies<Number>[before - 1](copy_of(first, 0));
    if (before < count) {
      kLaneCopies<Number>[count - before - 1](copy_of(first + before, before));
    }
  }

  std::size_t tokens_, size_;
};

}  // namespace convoy
