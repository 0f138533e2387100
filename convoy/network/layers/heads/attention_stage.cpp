// SPDX-License-Identifier: Apache-2.0
//
// A sequence is one window of one sample; without windows, a sample. A task is one head
// of one sequence. Its rows are gathered, so every sum is a product of the kernels' kind,
// for a panel of sixteen queries at a time:
//
//   scores S[j][i] = sum over f of K[f][j] Q[f][i]          j: keys, i: sixteen queries
//   P = softmax over j of S / sqrt(size) + bias, D = dropout of P
//   out[f][i] = sum over j of V[f][j] D[j][i]
//
// Scores exist for sixteen queries at a time, in cache, and are computed again in
// backward, as is which probabilities are kept; only what the softmax divides by is
// kept. Backward, with dO the gradient of the result:
//
//   dD[j][i] = sum over f of V[f][j] dO[f][i],   dP = dropout of dD
//   dS = P (dP - sum over j of P dP), which is the gradient of the bias as well
//   dQ[f][i] = sum over j of K[f][j] dS[j][i]
//   dK[f][j] = sum over i of Q[f][i] dS[j][i],   dV[f][j] = sum over i of dO[f][i]
//   D[j][i]

#include "convoy/network/layers/heads/attention_stage.h"

#include <algorithm>
#include <cmath>

#include "convoy/base/random.h"
#include "convoy/network/kernels/dropout.h"
#include "convoy/network/kernels/product.h"
#include "convoy/network/kernels/softmax.h"
#include "convoy/network/layers/heads/attention_bias.h"
#include "convoy/network/layers/heads/attention_mask.h"
#include "convoy/network/layers/heads/token_panels.h"

namespace convoy {
namespace {

constexpr std::size_t kBlock = kPack * kPack;

class AttentionStage final : public Stage {
 public:
  AttentionStage(const StageContext& context, const StageSpec& spec)
      : AttentionStage(context, spec.options<Attention>(), spec.src[0], spec.training) {}

  void forward(const Pass& pass, Activations src, const Activation& dst) override {
    bias_.expand(pass, /*backward=*/false);
    pass.team.run(sequences(pass) * heads_, [&](std::size_t task, int thread) {
      float* scratch = pass.arena.get(forward_scratch_) + thread * forward_floats();
      forward_head({pass, task / heads_, task % heads_, thread}, src[0].values,
                   dst.values, scratch);
    });
    clear_last_rows(pass, dst_, dst.values);
  }

  void backward(const Pass& pass, Activations src, const Activation& dst) override {
    if (src[0].gradient == nullptr && !bias_.trained(pass)) return;
    bias_.expand(pass, /*backward=*/true);
    // The bias' gradient is a sum over sequences, so that a task has several of them.
    const std::size_t all = sequences(pass);
    const std::size_t shares = bias_.trained(pass) ? AttentionBias::shares(all) : all;
    pass.team.run(shares * heads_, [&](std::size_t task, int thread) {
      float* scratch = pass.arena.get(backward_scratch_) + thread * backward_floats();
      const std::size_t share = task / heads_, head = task % heads_;
      if (bias_.trained(pass)) bias_.clear(pass, share, head);
      const Range range = even_part(all, shares, share);
      for (std::size_t sequence = range.begin; sequence < range.end; ++sequence) {
        backward_head({pass, sequence, head, thread, share}, src[0], dst.gradient,
                      scratch);
      }
    });
    if (bias_.trained(pass)) bias_.collect(pass, shares);
    if (src[0].gradient != nullptr) clear_last_rows(pass, src_, src[0].gradient);
  }

  bool backward_reads_src(std::size_t) const override { return true; }
  bool backward_reads_dst() const override { return false; }
  bool takes_stored() const override { return true; }

 private:
  AttentionStage(const StageContext& context, const Attention& layer, Shape src,
                 bool training)
      : src_(src),
        dst_({src.channels / 3, 1, 1, src.rows}),
        heads_(static_cast<std::size_t>(layer.heads)),
        windows_(static_cast<std::size_t>(layer.windows)),
        size_(dst_.features() / heads_),
        panels_(tokens_of(layer, src), size_),
        scale_(1.0f / std::sqrt(static_cast<float>(size_))),
        dropout_(training ? layer.dropout : 0),
        number_(context.number),
        mask_(layer, panels_.tokens()),
        bias_(context, layer, panels_.tokens()),
        moments_(context.reserve_kept(context.most_samples * windows_ * heads_ *
                                      panels_.count() * sizeof(SoftmaxMoments))),
        forward_scratch_(context.reserve_scratch(forward_floats(), context.forward)) {
    context.ask_for_buffer(panels_.buffer_floats());
    if (!context.training) return;
    backward_scratch_ = context.reserve_scratch(backward_floats(), context.backward);
  }

  /// One head of one sequence.
  struct Head {
    const Pass& pass;
    std::size_t sequence, number;
    int thread;
    std::size_t share = 0;  // of the sequences, where the bias' gradient is found
  };
  /// Sixteen queries of it, and how many keys they look at.
  struct Panel {
    Head head;
    std::size_t number, keys;
  };
  /// Query, key and value: a source row has them in this order.
  using Part = std::size_t;
  static constexpr Part kQuery = 0, kKey = 1, kValue = 2;

  std::size_t sequences(const Pass& pass) const { return pass.samples * windows_; }
  std::size_t panel_floats() const { return panels_.narrow().panel; }
  std::size_t all_floats() const { return panels_.count() * panel_floats(); }
  std::size_t score_floats() const { return panels_.count() * kBlock; }
  /// One bit per query and key, in so many floats: whole cache lines, so that the scratch
  /// memory of each thread begins with one.
  std::size_t kept_floats() const { return round_up(panels_.count() * kPack / 2, kPack); }
  std::size_t forward_floats() const {
    return all_floats() + 2 * panels_.wide_floats() + score_floats() + panel_floats() +
           kept_floats();
  }
  std::size_t backward_floats() const {
    return 4 * all_floats() + 2 * panels_.wide_floats() + 2 * score_floats() +
           panel_floats() + kBlock + kept_floats();
  }
  std::size_t channel(Part part, std::size_t head) const {
    return (part * heads_ + head) * size_;
  }
  Panel panel(const Head& head, std::size_t number) const {
    return {head, number, mask_.keys(head.sequence % windows_, number)};
  }
  /// The number of a panel among those of all heads and sequences.
  std::size_t place(const Panel& panel) const {
    const Head& head = panel.head;
    return (head.sequence * heads_ + head.number) * panels_.count() + panel.number;
  }

  void gather(const Head& head, const Stored& src, Part part, PanelLayout layout,
              float* panels) const {
    panels_.gather(lane_kernels(head.pass.kernels), src, src_.features(),
                   channel(part, head.number), head.sequence, layout,
                   head.pass.fp32_buffer(head.thread), panels);
  }

  /// dst[j][i] = sum over f of left[f][j] right[f][i], for the keys j.
  void multiply_features(const Panel& panel, const float* left, const float* right,
                         float* dst) const {
    product_kernels(panel.head.pass.kernels)
        .product({.a = left,
                  .a_row = 1,
                  .a_stride = panels_.wide().feature,
                  .b = right,
                  .dst = dst,
                  .dst_row = kPack,
                  .rows = static_cast<int>(panel.keys),
                  .depth = static_cast<int>(size_)});
  }

  /// dst[f][i] = sum over the keys j of left[f][j] right[j][i].
  void multiply_tokens(const Panel& panel, const float* left, const float* right,
                       float* dst) const {
    product_kernels(panel.head.pass.kernels)
        .product({.a = left,
                  .a_row = panels_.wide().feature,
                  .b = right,
                  .dst = dst,
                  .dst_row = kPack,
                  .rows = static_cast<int>(size_),
                  .depth = static_cast<int>(panel.keys)});
  }

  /// From products of queries and keys; in backward the moments are known.
  void find_probabilities(const Panel& panel, bool backward, float* scores) const {
    const Pass& pass = panel.head.pass;
    const SoftmaxKernels& kernels = softmax_kernels(pass.kernels);
    Softmax work{.values = scores,
                 .columns = panel.keys,
                 .scale = scale_,
                 .moments = pass.arena.get<SoftmaxMoments>(moments_) + place(panel),
                 .known = backward};
    if (bias_.exists() || !mask_.empty()) {
      kernels.bias_scores(
          {.values = scores,
           .columns = panel.keys,
           .scale = scale_,
           .bias = bias_.panel(pass, backward, panel.head.number, panel.number),
           .seen = mask_.seen(panel.head.sequence % windows_, panel.number)});
      work.scale = 1;
      work.masked = true;
    }
    kernels.softmax(work);
  }

  /// Which of the panel's probabilities are kept is a function of (seed, step,
  /// micro-batch, stage, sequence, head, query, key).
  void draw_kept(const Panel& panel, std::uint16_t* kept) const {
    if (dropout_ == 0) return;
    const RngKey& key = panel.head.pass.key;
    const RandomStream random(key.seed, RngStream::dropout, key.step,
                              key.microbatch << 16 | number_);
    dropout_kernels(panel.head.pass.kernels)
        .draw({random, place(panel) * panels_.tokens(), panel.keys,
               static_cast<std::uint32_t>(std::lround(dropout_ * 65536)), kept});
  }
  void drop(const Panel& panel, const std::uint16_t* kept, float* values) const {
    if (dropout_ == 0) return;
    dropout_kernels(panel.head.pass.kernels)
        .scale({.src = values,
                .kept = kept,
                .rows = panel.keys,
                .factor = 1.0f / (1.0f - dropout_),
                .dst = values});
  }

  void forward_head(const Head& head, const Stored& src, const Stored& dst,
                    float* scratch) const {
    float* query = scratch;
    float* key = query + all_floats();
    float* value = key + panels_.wide_floats();
    float* scores = value + panels_.wide_floats();
    float* result = scores + score_floats();
    auto* kept = reinterpret_cast<std::uint16_t*>(result + panel_floats());
    gather(head, src, kQuery, panels_.narrow(), query);
    gather(head, src, kKey, panels_.wide(), key);
    gather(head, src, kValue, panels_.wide(), value);
    for (std::size_t i = 0; i < panels_.count(); ++i) {
      const Panel panel = this->panel(head, i);
      multiply_features(panel, key, query + i * panel_floats(), scores);
      find_probabilities(panel, /*backward=*/false, scores);
      draw_kept(panel, kept);
      drop(panel, kept, scores);
      multiply_tokens(panel, value, scores, result);
      panels_.scatter(result, i, dst_.features(), head.number * size_, head.sequence,
                      head.pass.fp32_buffer(head.thread), dst);
    }
  }

  /// What a task of backward works with: panels of all tokens, and scores of sixteen
  /// queries.
  struct BackwardPanels {
    float *query, *result_gradient, *key_gradient, *value_gradient;
    float *key, *value;
    float *scores, *score_gradient, *query_gradient, *transposed;
    std::uint16_t* kept;
  };

  BackwardPanels divide(float* scratch) const {
    BackwardPanels all{};
    const auto take = [&](float*& part, std::size_t floats) {
      part = scratch;
      scratch += floats;
    };
    for (float** part :
         {&all.query, &all.result_gradient, &all.key_gradient, &all.value_gradient}) {
      take(*part, all_floats());
    }
    take(all.key, panels_.wide_floats());
    take(all.value, panels_.wide_floats());
    take(all.scores, score_floats());
    take(all.score_gradient, score_floats());
    take(all.query_gradient, panel_floats());
    take(all.transposed, kBlock);
    all.kept = reinterpret_cast<std::uint16_t*>(scratch);
    return all;
  }

  void backward_head(const Head& head, const Activation& src, const Stored& dst_gradient,
                     float* scratch) const {
    const BackwardPanels all = divide(scratch);
    gather(head, src.values, kQuery, panels_.narrow(), all.query);
    gather(head, src.values, kKey, panels_.wide(), all.key);
    gather(head, src.values, kValue, panels_.wide(), all.value);
    panels_.gather(lane_kernels(head.pass.kernels), dst_gradient, dst_.features(),
                   head.number * size_, head.sequence, panels_.narrow(),
                   head.pass.fp32_buffer(head.thread), all.result_gradient);
    // Both gradients; a panel whose queries see few keys adds to few.
    std::fill_n(all.key_gradient, 2 * all_floats(), 0.0f);
    for (std::size_t i = 0; i < panels_.count(); ++i) {
      const Panel panel = this->panel(head, i);
      find_score_gradient(panel, all);
      if (src.gradient != nullptr) backward_panel(panel, all, src.gradient);
    }
    for (std::size_t i = 0; i < panels_.count() && src.gradient != nullptr; ++i) {
      scatter(head, all.key_gradient + i * panel_floats(), i, kKey, src.gradient);
      scatter(head, all.value_gradient + i * panel_floats(), i, kValue, src.gradient);
    }
  }

  void scatter(const Head& head, const float* values, std::size_t panel, Part part,
               const Stored& src_gradient) const {
    panels_.scatter(values, panel, src_.features(), channel(part, head.number),
                    head.sequence, head.pass.fp32_buffer(head.thread), src_gradient);
  }

  /// Leaves the probabilities, after dropout, in `scores`.
  void find_score_gradient(const Panel& panel, const BackwardPanels& all) const {
    const Pass& pass = panel.head.pass;
    const std::size_t at = panel.number * panel_floats();
    multiply_features(panel, all.key, all.query + at, all.scores);
    find_probabilities(panel, /*backward=*/true, all.scores);
    multiply_features(panel, all.value, all.result_gradient + at, all.score_gradient);
    draw_kept(panel, all.kept);
    drop(panel, all.kept, all.score_gradient);
    float* bias_gradient =
        bias_.trained(pass)
            ? bias_.gradient(pass, panel.head.share, panel.head.number, panel.number)
            : nullptr;
    softmax_kernels(pass.kernels)
        .gradient({.probabilities = all.scores,
                   .gradient = all.score_gradient,
                   .columns = panel.keys,
                   .scale = scale_,
                   .bias_gradient = bias_gradient});
    drop(panel, all.kept, all.scores);
  }

  void backward_panel(const Panel& panel, const BackwardPanels& all,
                      const Stored& src_gradient) const {
    const std::size_t at = panel.number * panel_floats();
    multiply_tokens(panel, all.key, all.score_gradient, all.query_gradient);
    scatter(panel.head, all.query_gradient, panel.number, kQuery, src_gradient);
    add_over_queries(panel, all.result_gradient + at, all.scores, all.transposed,
                     all.value_gradient);
    add_over_queries(panel, all.query + at, all.score_gradient, all.transposed,
                     all.key_gradient);
  }

  /// dst[f][j] += sum over sixteen queries i of left[f][i] right[j][i].
  void add_over_queries(const Panel& panel, const float* left, float* right,
                        float* transposed, float* dst) const {
    const KernelSet set = panel.head.pass.kernels;
    const std::size_t keys = round_up(panel.keys, kPack);
    std::fill(right + panel.keys * kPack, right + keys * kPack, 0.0f);
    for (std::size_t block = 0; block < keys / kPack; ++block) {
      lane_kernels(set).transpose(right + block * kBlock, transposed);
      product_kernels(set).product(
          {.a = left,
           .a_row = kPack,
           .b = transposed,
           .dst = dst + block * panel_floats(),
           .dst_row = kPack,
           .rows = static_cast<int>(size_),
           .depth = static_cast<int>(panels_.tokens_in(panel.number)),
           .accumulate = true});
    }
  }

  /// Rows that only fill up the last pack are zero.
  static void clear_last_rows(const Pass& pass, Shape shape, const Stored& values) {
    const std::size_t rows = pass.rows(shape), features = shape.features();
    values.visit([&](auto* numbers) {
      for (std::size_t row = rows; row % kPack != 0; ++row) {
        auto* to = numbers + row_offset(row, features);
        for (std::size_t f = 0; f < features; ++f) to[f * kPack] = 0;
      }
    });
  }

  Shape src_, dst_;
  std::size_t heads_, windows_, size_;
  TokenPanels panels_;
  float scale_, dropout_;
  std::uint32_t number_;
  AttentionMask mask_;
  AttentionBias bias_;
  SlotId moments_, forward_scratch_, backward_scratch_{};
};

}  // namespace

std::unique_ptr<Stage> make_attention_stage(const StageSpec& spec,
                                            const StageContext& context) {
  return std::make_unique<AttentionStage>(context, spec);
}

}  // namespace convoy
