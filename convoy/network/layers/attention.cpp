// SPDX-License-Identifier: Apache-2.0
//
// A task is one head of one sample. Its rows are gathered into panels [token / 16][size]
// [16 tokens], so every sum is a product of the kernels' kind, for sixteen queries at a
// time:
//
//   scores S[j][i] = sum over f of K[f][j] Q[f][i]          j: keys, i: sixteen queries
//   P = softmax over j of S / sqrt(size)
//   out[f][i] = sum over j of V[f][j] P[j][i]
//
// Scores exist for sixteen queries at a time, in cache, and are computed again in
// backward; only what the softmax divides by is kept. Backward, with dO the gradient of
// the result:
//
//   dP[j][i] = sum over f of V[f][j] dO[f][i],   dS = P (dP - sum over j of P dP)
//   dQ[f][i] = sum over j of K[f][j] dS[j][i]
//   dK[f][j] = sum over i of Q[f][i] dS[j][i],   dV[f][j] = sum over i of dO[f][i]
//   P[j][i]

#include "convoy/network/layers/attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoy/base/error.h"
#include "convoy/network/kernels/product.h"
#include "convoy/network/kernels/softmax.h"
#include "convoy/network/row_copy.h"
#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

constexpr std::size_t kBlock = kPack * kPack;

class AttentionStage final : public Stage {
 public:
  AttentionStage(const StageContext& context, const Attention& layer, Shape src)
      : src_(src),
        dst_({src.channels / 3, 1, 1, src.rows}),
        heads_(static_cast<std::size_t>(layer.heads)),
        size_(dst_.features() / heads_),
        tokens_(static_cast<std::size_t>(src.rows)),
        panels_((tokens_ + kPack - 1) / kPack),
        scale_(1.0f / std::sqrt(static_cast<float>(size_))),
        moments_(context.reserve_kept(context.most_samples * heads_ * panels_ *
                                      sizeof(SoftmaxMoments))),
        forward_scratch_(context.reserve_scratch(forward_floats(), context.forward)) {
    if (!context.training) return;
    backward_scratch_ = context.reserve_scratch(backward_floats(), context.backward);
  }

  void forward(const Pass& pass, Activations src, const Activation& dst) override {
    pass.team.run(pass.samples * heads_, [&](std::size_t task, int thread) {
      float* scratch = pass.arena.get(forward_scratch_) + thread * forward_floats();
      forward_head(pass, {task / heads_, task % heads_}, src[0].values, dst.values,
                   scratch);
    });
    clear_last_rows(pass, dst_, dst.values);
  }

  void backward(const Pass& pass, Activations src, const Activation& dst) override {
    if (src[0].gradient == nullptr) return;
    pass.team.run(pass.samples * heads_, [&](std::size_t task, int thread) {
      float* scratch = pass.arena.get(backward_scratch_) + thread * backward_floats();
      backward_head(pass, {task / heads_, task % heads_}, src[0], dst.gradient, scratch);
    });
    clear_last_rows(pass, src_, src[0].gradient);
  }

  bool backward_reads_src(std::size_t) const override { return true; }
  bool backward_reads_dst() const override { return false; }

 private:
  struct Head {
    std::size_t sample, number;
  };
  /// Query, key and value: a source row has them in this order.
  using Part = std::size_t;
  static constexpr Part kQuery = 0, kKey = 1, kValue = 2;

  std::size_t panel_floats() const { return size_ * kPack; }
  std::size_t all_floats() const { return panels_ * panel_floats(); }
  std::size_t score_floats() const { return panels_ * kBlock; }
  std::size_t forward_floats() const {
    return 3 * all_floats() + score_floats() + panel_floats();
  }
  std::size_t backward_floats() const {
    return 6 * all_floats() + 2 * score_floats() + panel_floats() + kBlock;
  }
  std::size_t tokens_in(std::size_t panel) const {
    return std::min<std::size_t>(kPack, tokens_ - panel * kPack);
  }
  std::size_t channel(Part part, std::size_t head) const {
    return (part * heads_ + head) * size_;
  }

  /// Copies `size_` channels of one sample's tokens between an activation and panels. The
  /// tokens of a panel lie in one pack or two.
  template <class Copy>
  void for_runs(std::size_t sample, std::size_t panel, const Copy& copy) const {
    const std::size_t first = sample * tokens_ + panel * kPack;
    const std::size_t count = tokens_in(panel);
    const std::size_t before = std::min(count, kPack - first % kPack);
    copy(first, 0, before);
    if (before < count) copy(first + before, before, count - before);
  }

  /// Sixteen tokens that lie in two packs, the first of which has `before` of them.
  /// Copies of sixteen numbers are quick, whatever of them is needed: what one writes too
  /// much, the next overwrites. The last channel is copied to the number.
  void gather_whole_panel(const float* first, const float* second, std::size_t before,
                          float* panel) const {
    const std::size_t last = (size_ - 1) * kPack;
    for (std::size_t at = 0; at < last; at += kPack) {
      std::copy_n(first + at, kPack, panel + at);
      if (before < kPack) std::copy_n(second + at, kPack, panel + at + before);
    }
    std::copy_n(first + last, before, panel + last);
    std::copy_n(second + last, kPack - before, panel + last + before);
  }

  void gather(const float* src, std::size_t features, std::size_t channel,
              std::size_t sample, float* panels) const {
    for (std::size_t panel = 0; panel < panels_; ++panel, panels += panel_floats()) {
      if (tokens_in(panel) == kPack) {
        const std::size_t row = sample * tokens_ + panel * kPack;
        const std::size_t before = kPack - row % kPack;
        gather_whole_panel(src + row_offset(row, features, channel),
                           src + row_offset(row + before, features, channel), before,
                           panels);
        continue;
      }
      std::fill_n(panels, panel_floats(), 0.0f);
      for_runs(sample, panel, [&](std::size_t row, std::size_t lane, std::size_t count) {
        const float* from = src + row_offset(row, features, channel);
        for (std::size_t f = 0; f < size_; ++f) {
          std::copy_n(from + f * kPack, count, panels + f * kPack + lane);
        }
      });
    }
  }

  void scatter(const float* values, std::size_t panel, std::size_t features,
               std::size_t channel, std::size_t sample, float* dst) const {
    for_runs(sample, panel, [&](std::size_t row, std::size_t lane, std::size_t count) {
      float* to = dst + row_offset(row, features, channel);
      for (std::size_t f = 0; f < size_; ++f) {
        std::copy_n(values + f * kPack + lane, count, to + f * kPack);
      }
    });
  }

  /// dst[j][i] = sum over f of left[f][j] right[f][i], for all tokens j.
  void multiply_features(const Pass& pass, const float* left, const float* right,
                         float* dst) const {
    const ProductKernels& kernels = product_kernels(pass.kernels);
    for (std::size_t panel = 0; panel < panels_; ++panel) {
      kernels.product({.a = left + panel * panel_floats(),
                       .a_row = 1,
                       .a_stride = kPack,
                       .b = right,
                       .dst = dst + panel * kBlock,
                       .dst_row = kPack,
                       .rows = static_cast<int>(tokens_in(panel)),
                       .depth = static_cast<int>(size_)});
    }
  }

  /// dst[f][i] = sum over tokens j of left[f][j] right[j][i].
  void multiply_tokens(const Pass& pass, const float* left, const float* right,
                       float* dst) const {
    const ProductKernels& kernels = product_kernels(pass.kernels);
    Product product{.a = left,
                    .a_row = kPack,
                    .b = right,
                    .dst = dst,
                    .dst_row = kPack,
                    .rows = static_cast<int>(size_),
                    .depth = kPack,
                    .pieces = static_cast<int>(tokens_ / kPack),
                    .a_piece = panel_floats(),
                    .b_piece = kBlock};
    if (product.pieces > 0) kernels.product(product);
    if (tokens_ % kPack == 0) return;
    product.accumulate = product.pieces > 0;
    product.a += tokens_ / kPack * product.a_piece;
    product.b += tokens_ / kPack * product.b_piece;
    product.depth = static_cast<int>(tokens_ % kPack);
    product.pieces = 1;
    kernels.product(product);
  }

  SoftmaxMoments& moments(const Pass& pass, Head head, std::size_t panel) const {
    auto* all = pass.arena.get<SoftmaxMoments>(moments_);
    return all[(head.sample * heads_ + head.number) * panels_ + panel];
  }

  void forward_head(const Pass& pass, Head head, const float* src, float* dst,
                    float* scratch) const {
    const std::size_t features = src_.features();
    float* parts[3];
    for (const Part part : {kQuery, kKey, kValue}) {
      parts[part] = scratch + part * all_floats();
      gather(src, features, channel(part, head.number), head.sample, parts[part]);
    }
    float* scores = scratch + 3 * all_floats();
    float* result = scores + score_floats();
    for (std::size_t panel = 0; panel < panels_; ++panel) {
      multiply_features(pass, parts[kKey], parts[kQuery] + panel * panel_floats(),
                        scores);
      softmax_kernels(pass.kernels)
          .softmax({.values = scores,
                    .columns = tokens_,
                    .scale = scale_,
                    .moments = &moments(pass, head, panel)});
      multiply_tokens(pass, parts[kValue], scores, result);
      scatter(result, panel, dst_.features(), head.number * size_, head.sample, dst);
    }
  }

  /// What a task of backward works with: panels of all tokens, and scores of sixteen
  /// queries.
  struct BackwardPanels {
    float *query, *key, *value, *result_gradient, *key_gradient, *value_gradient;
    float *scores, *score_gradient, *query_gradient, *transposed;
  };

  BackwardPanels divide(float* scratch) const {
    BackwardPanels all{};
    for (float** panels : {&all.query, &all.key, &all.value, &all.result_gradient,
                           &all.key_gradient, &all.value_gradient}) {
      *panels = scratch;
      scratch += all_floats();
    }
    all.scores = scratch;
    all.score_gradient = all.scores + score_floats();
    all.query_gradient = all.score_gradient + score_floats();
    all.transposed = all.query_gradient + panel_floats();
    return all;
  }

  void backward_head(const Pass& pass, Head head, const Activation& src,
                     const float* dst_gradient, float* scratch) const {
    const std::size_t features = src_.features();
    const BackwardPanels all = divide(scratch);
    const auto gather_part = [&](Part part, float* panels) {
      gather(src.values, features, channel(part, head.number), head.sample, panels);
    };
    gather_part(kQuery, all.query);
    gather_part(kKey, all.key);
    gather_part(kValue, all.value);
    gather(dst_gradient, dst_.features(), head.number * size_, head.sample,
           all.result_gradient);
    // Keys beyond the last have no scores: their blocks stay zero.
    std::fill_n(all.scores, 2 * score_floats(), 0.0f);
    for (std::size_t panel = 0; panel < panels_; ++panel) {
      backward_panel(pass, head, panel, all);
      scatter(all.query_gradient, panel, features, channel(kQuery, head.number),
              head.sample, src.gradient);
    }
    for (std::size_t panel = 0; panel < panels_; ++panel) {
      const std::size_t at = panel * panel_floats();
      scatter(all.key_gradient + at, panel, features, channel(kKey, head.number),
              head.sample, src.gradient);
      scatter(all.value_gradient + at, panel, features, channel(kValue, head.number),
              head.sample, src.gradient);
    }
  }

  void backward_panel(const Pass& pass, Head head, std::size_t panel,
                      const BackwardPanels& all) const {
    const std::size_t at = panel * panel_floats();
    const SoftmaxKernels& kernels = softmax_kernels(pass.kernels);
    multiply_features(pass, all.key, all.query + at, all.scores);
    kernels.softmax({.values = all.scores,
                     .columns = tokens_,
                     .scale = scale_,
                     .moments = &moments(pass, head, panel),
                     .known = true});
    multiply_features(pass, all.value, all.result_gradient + at, all.score_gradient);
    kernels.gradient({.probabilities = all.scores,
                      .gradient = all.score_gradient,
                      .columns = tokens_,
                      .scale = scale_});
    multiply_tokens(pass, all.key, all.score_gradient, all.query_gradient);
    add_over_queries(pass, all.result_gradient + at, all.scores, panel, all.transposed,
                     all.value_gradient);
    add_over_queries(pass, all.query + at, all.score_gradient, panel, all.transposed,
                     all.key_gradient);
  }

  /// dst[f][j] += sum over sixteen queries i of left[f][i] right[j][i]; the first panel
  /// of queries overwrites.
  void add_over_queries(const Pass& pass, const float* left, const float* right,
                        std::size_t query_panel, float* transposed, float* dst) const {
    const ProductKernels& kernels = product_kernels(pass.kernels);
    for (std::size_t panel = 0; panel < panels_; ++panel) {
      kernels.rows_to_tile({right + panel * kBlock, kPack, kPack, kPack, transposed});
      kernels.product({.a = left,
                       .a_row = kPack,
                       .b = transposed,
                       .dst = dst + panel * panel_floats(),
                       .dst_row = kPack,
                       .rows = static_cast<int>(size_),
                       .depth = static_cast<int>(tokens_in(query_panel)),
                       .accumulate = query_panel > 0});
    }
  }

  /// Rows that only fill up the last pack are zero.
  static void clear_last_rows(const Pass& pass, Shape shape, float* values) {
    const std::size_t rows = pass.rows(shape), features = shape.features();
    for (std::size_t row = rows; row % kPack != 0; ++row) {
      float* to = values + row_offset(row, features);
      for (std::size_t f = 0; f < features; ++f) to[f * kPack] = 0;
    }
  }

  Shape src_, dst_;
  std::size_t heads_, size_, tokens_;
  std::size_t panels_;  // of sixteen tokens
  float scale_;
  SlotId moments_, forward_scratch_, backward_scratch_{};
};

class AttentionKind final : public KindOf<Attention, AttentionKind> {
 public:
  AttentionKind() : KindOf({.name = "attention", .operation = "Attention"}) {}

  static LayerDescription describe_options(const Attention& layer,
                                           const LayerContext& context) {
    const Shape src = context.first();
    check(src.pixels() == 1 && src.channels % (3 * layer.heads) == 0,
          "attention reads query, key and value of all heads");
    const auto tokens = static_cast<std::uint64_t>(src.rows);
    const Shape dst = {src.channels / 3, 1, 1, src.rows};
    return {.dst = dst,
            .flops = 4 * tokens * tokens * dst.features(),
            .details = {{"heads", fmt::format("{}", layer.heads)}}};
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext& context) const override {
    return std::make_unique<AttentionStage>(context, spec.options<Attention>(),
                                            spec.src[0]);
  }
  std::vector<LayerExample> examples() const override {
    return {{"OneHead", Attention{1}, {{12, 1, 1, 5}}},
            {"TwoHeads", Attention{2}, {{18, 1, 1, 16}}},
            {"ManyTokens", Attention{2}, {{30, 1, 1, 37}}}};
  }
};

const Registered<AttentionKind> kAttention;

}  // namespace
}  // namespace convoy
