// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/heads/attention_bias.h"

#include <algorithm>

namespace convoy {

std::size_t bias_table_rows(const Attention& layer, std::size_t tokens) {
  if (layer.bias_index.empty()) return tokens * tokens;
  return static_cast<std::size_t>(std::ranges::max(layer.bias_index)) + 1;
}

AttentionBias::AttentionBias(const StageContext& context, const Attention& layer,
                             std::size_t tokens)
    : exists_(!layer.name.empty()),
      heads_(static_cast<std::size_t>(layer.heads)),
      tokens_(tokens),
      panels_((tokens + kPack - 1) / kPack),
      index_(layer.bias_index),
      table_floats_(bias_table_rows(layer, tokens) * heads_) {
  if (!exists_) return;
  const auto reserve = [&](std::size_t copies, int moment) {
    return context.plan.reserve(copies * heads_ * head_floats() * sizeof(float),
                                {moment, moment});
  };
  forward_ = reserve(1, context.forward);
  if (!context.training) return;
  const std::size_t windows = static_cast<std::size_t>(layer.windows);
  backward_ = reserve(1, context.backward);
  shares_ = reserve(shares(context.most_samples * windows), context.backward);
}

std::size_t AttentionBias::table_place(std::size_t head, std::size_t query,
                                       std::size_t key) const {
  const std::size_t pair = query * tokens_ + key;
  if (index_.empty()) return head * tokens_ * tokens_ + pair;
  return static_cast<std::size_t>(index_[pair]) * heads_ + head;
}

void AttentionBias::expand(const Pass& pass, bool backward) const {
  if (!exists_) return;
  const float* table = pass.parameters[0].values;
  float* panels = pass.arena.get(backward ? backward_ : forward_);
  pass.team.run(heads_, [&](std::size_t head, int) {
    float* to = panels + head * head_floats();
    std::fill_n(to, head_floats(), 0.0f);
    for (std::size_t query = 0; query < tokens_; ++query) {
      for (std::size_t key = 0; key < tokens_; ++key) {
        to[panel_place(query, key)] = table[table_place(head, query, key)];
      }
    }
  });
}

const float* AttentionBias::panel(const Pass& pass, bool backward, std::size_t head,
                                  std::size_t panel) const {
  if (!exists_) return nullptr;
  return pass.arena.get(backward ? backward_ : forward_) + head * head_floats() +
         panel * panel_floats();
}

float* AttentionBias::gradient(const Pass& pass, std::size_t share, std::size_t head,
                               std::size_t panel) const {
  return pass.arena.get(shares_) + (share * heads_ + head) * head_floats() +
         panel * panel_floats();
}

void AttentionBias::clear(const Pass& pass, std::size_t share, std::size_t head) const {
  std::fill_n(gradient(pass, share, head, 0), head_floats(), 0.0f);
}

void AttentionBias::collect(const Pass& pass, std::size_t shares) const {
  float* table = pass.parameters[0].gradient;
  std::fill_n(table, table_floats_, 0.0f);
  // A task has one head of the whole table, and adds to it in the order of pairs.
  pass.team.run(heads_, [&](std::size_t head, int) {
    for (std::size_t query = 0; query < tokens_; ++query) {
      for (std::size_t key = 0; key < tokens_; ++key) {
        float& sum = table[table_place(head, query, key)];
        for (std::size_t share = 0; share < shares; ++share) {
          sum += gradient(pass, share, head, 0)[panel_place(query, key)];
        }
      }
    }
  });
}

}  // namespace convoy
