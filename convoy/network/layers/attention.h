// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "convoy/network/layer.h"

namespace convoy {

/// Multi-head self-attention between the rows of a sample, the tokens. A source row has
/// query, key and value one after the other, each of all heads: 3 x heads x size; the
/// result has heads x size. The linear layers before and after it are layers of their
/// own.
///
///   scores = query x key / sqrt(size) + bias       of the keys that the query sees
///   result = dropout(softmax(scores)) x value      zeros if it sees none
struct Attention {
  int heads = 1;
  float dropout = 0;  // of the probabilities, in training: see layers/dropout.h

  /// A sample's rows are so many windows of equally many tokens, one after the other, and
  /// tokens see those of their own window.
  int windows = 1;
  /// A query sees the keys up to its own.
  bool causal = false;
  /// One number per row of a sample: a query sees the keys that have its number. A row
  /// whose number is below 0 sees none and is seen by none. Empty: all see all.
  std::vector<int> regions{};

  /// The whole name of the parameter that is added to the scores; "": there is none. It
  /// is [heads][tokens][tokens], a number for each head, query and key. With an index it
  /// is [table rows][heads], as Swin and BEiT have it; windows share it.
  std::string name{};
  /// The table's row of each pair of tokens, query by query.
  std::vector<int> bias_index{};

  static auto fields() {
    return std::tuple{
        Field{"heads", &Attention::heads},          Field{"dropout", &Attention::dropout},
        Field{"windows", &Attention::windows},      Field{"causal", &Attention::causal},
        Field{"regions", &Attention::regions},      Field{"name", &Attention::name},
        Field{"bias_index", &Attention::bias_index}};
  }
};

/// Of a window.
inline std::size_t tokens_of(const Attention& layer, Shape src) {
  return static_cast<std::size_t>(src.rows / layer.windows);
}

/// Swin's bias_index: pairs of the tokens of a window, height x width row by row, by how
/// far the query is from the key. The table has (2 height - 1) x (2 width - 1) rows.
std::vector<int> relative_positions(int height, int width);

}  // namespace convoy
