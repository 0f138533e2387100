// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/attention.h"

#include <cmath>
#include <vector>

#include "tests/network/double_layer.h"

namespace convoy {
namespace {

/// One sample's tokens in one head.
struct HeadView {
  const DoubleBatch& src;
  std::size_t first_row;
  int heads, head, size;

  double at(int part, int token, int f) const {
    return src.at(first_row + static_cast<std::size_t>(token),
                  (part * heads + head) * size + f);
  }
};

/// The weights of all values for one query.
std::vector<double> attention_weights(const HeadView& view, int query) {
  std::vector<double> weights;
  double sum = 0;
  for (int key = 0; key < view.src.shape.rows; ++key) {
    double score = 0;
    for (int f = 0; f < view.size; ++f)
      score += view.at(0, query, f) * view.at(1, key, f);
    weights.push_back(std::exp(score / std::sqrt(static_cast<double>(view.size))));
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

const DoubleLayer<Attention> kAttention("attention", [](const Attention& layer,
                                                        const DoubleArguments& of) {
  DoubleBatch dst(of.dst, of.samples());
  const int tokens = of.dst.rows, size = of.dst.channels / layer.heads;
  for (std::size_t i = 0; i < dst.rows() * layer.heads; ++i) {
    const std::size_t row = i / layer.heads;
    const int head = static_cast<int>(i % layer.heads);
    const int query = static_cast<int>(row % tokens);
    const HeadView view = {of.first(), row - query, layer.heads, head, size};
    const std::vector<double> weights = attention_weights(view, query);
    for (int f = 0; f < size; ++f) {
      double sum = 0;
      for (int key = 0; key < tokens; ++key) sum += weights[key] * view.at(2, key, f);
      dst.at(row, head * size + f) = sum;
    }
  }
  return dst;
});

}  // namespace
}  // namespace convoy
