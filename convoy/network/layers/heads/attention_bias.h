// SPDX-License-Identifier: Apache-2.0
//
// AttentionBias: the parameter that is added to scores, as the kernels read it, and its
// gradient.

#pragma once

#include <vector>

#include "convoy/network/layers/attention.h"
#include "convoy/network/stage.h"

namespace convoy {

/// How many numbers the table has for each head.
std::size_t bias_table_rows(const Attention& layer, std::size_t tokens);

/// The gradient is a sum over sequences (the windows of all samples), of which there may
/// be many more than heads. So they are divided into a few shares, whose number does not
/// depend on threads: a task adds up one head's of one share, and the shares' sums are
/// added in their order.
class AttentionBias {
 public:
  AttentionBias(const StageContext& context, const Attention& layer, std::size_t tokens);

  bool exists() const { return exists_; }
  /// Whether backward of this pass finds its gradient.
  bool trained(const Pass& pass) const {
    return exists_ && pass.parameters[0].gradient != nullptr;
  }

  /// Copies the table into panels, in forward and again in backward.
  void expand(const Pass& pass, bool backward) const;

  /// [key][16 queries] of the panels that expand() filled; nullptr if there is no bias.
  const float* panel(const Pass& pass, bool backward, std::size_t head,
                     std::size_t panel) const;

  static std::size_t shares(std::size_t sequences) {
    return std::min<std::size_t>(sequences, kMostShares);
  }
  /// Zeros one head's sums of a share, before the first is added.
  void clear(const Pass& pass, std::size_t share, std::size_t head) const;
  /// [key][16 queries], to which the gradient of each sequence is added.
  float* gradient(const Pass& pass, std::size_t share, std::size_t head,
                  std::size_t panel) const;
  /// Writes the parameter's gradient.
  void collect(const Pass& pass, std::size_t shares) const;

 private:
  static constexpr std::size_t kMostShares = 8;

  std::size_t panel_floats() const { return tokens_ * kPack; }
  std::size_t head_floats() const { return panels_ * panel_floats(); }
  /// Of a pair in the panels of a head, and in the table.
  std::size_t panel_place(std::size_t query, std::size_t key) const {
    return query / kPack * panel_floats() + key * kPack + query % kPack;
  }
  std::size_t table_place(std::size_t head, std::size_t query, std::size_t key) const;

  bool exists_;
  std::size_t heads_, tokens_, panels_;
  std::vector<int> index_;
  std::size_t table_floats_;
  SlotId forward_{}, backward_{}, shares_{};
};

}  // namespace convoy
