// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/point/stochastic_depth.h"

#include <fmt/format.h>

#include <algorithm>

#include "convoy/base/error.h"
#include "convoy/base/random.h"
#include "convoy/network/kernels/point/broadcast.h"
#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

/// Which samples are kept is a function of (seed, step, micro-batch, stage, sample), and
/// is drawn again in backward.
class StochasticDepthStage final : public Stage {
 public:
  StochasticDepthStage(const StageContext& context, const StochasticDepth& layer,
                       Shape shape)
      : probability_(layer.probability), shape_(shape), number_(context.number) {}

  void forward(const Pass& pass, Activations src, const Activation& dst) override {
    scale_kept(pass, src[0].values, dst.values);
  }

  void backward(const Pass& pass, Activations src, const Activation& dst) override {
    if (src[0].gradient != nullptr) scale_kept(pass, dst.gradient, src[0].gradient);
  }

  bool backward_reads_src(std::size_t) const override { return false; }
  bool backward_reads_dst() const override { return false; }

 private:
  static constexpr std::size_t kFeaturesPerTask = 1024;

  void scale_kept(const Pass& pass, const float* from, float* to) const {
    const RandomStream random(pass.key.seed, RngStream::dropout, pass.key.step,
                              pass.key.microbatch << 16 | number_);
    const std::size_t features = shape_.features();
    const std::size_t parts = (features + kFeaturesPerTask - 1) / kFeaturesPerTask;
    pass.team.run(pass.packs(shape_) * parts, [&](std::size_t task, int) {
      const std::size_t pack = task / parts, first = task % parts * kFeaturesPerTask;
      const std::size_t at = (pack * features + first) * kPack;
      float factors[kPack];
      draw_factors(random, pack, factors);
      broadcast_kernels(pass.kernels)
          .multiply({.a = from + at,
                     .b = factors,
                     .b_stride = {0, 0},
                     .dst = to + at,
                     .channels = 1,
                     .pixels = std::min(kFeaturesPerTask, features - first)});
    });
  }

  /// One per row: zero, or what makes up for the samples that are zero.
  void draw_factors(const RandomStream& random, std::size_t pack,
                    float (&factors)[kPack]) const {
    const auto rows = static_cast<std::size_t>(shape_.rows);
    for (std::size_t lane = 0; lane < kPack; ++lane) {
      const bool kept = random.uniform((pack * kPack + lane) / rows) >= probability_;
      factors[lane] = kept ? 1.0f / (1.0f - probability_) : 0.0f;
    }
  }

  float probability_;
  Shape shape_;
  std::uint32_t number_;
};

class StochasticDepthKind final : public KindOf<StochasticDepth, StochasticDepthKind> {
 public:
  StochasticDepthKind() : KindOf({.name = "stochastic_depth", .operation = "Dropout"}) {}

  static LayerDescription describe_options(const StochasticDepth& layer,
                                           const LayerContext& context) {
    if (!(layer.probability >= 0 && layer.probability < 1)) refuse(layer);
    return {.dst = context.first(),
            .identity = !context.training,
            .details = {{"probability", fmt::format("{}", layer.probability)}}};
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext& context) const override {
    return std::make_unique<StochasticDepthStage>(
        context, spec.options<StochasticDepth>(), spec.src[0]);
  }
  std::vector<LayerExample> examples() const override {
    return {{"OfImages", StochasticDepth{0.4f}, {{3, 5, 4}}},
            {"OfTokens", StochasticDepth{0.5f}, {{7, 1, 1, 5}}},
            {"OfManyFeatures", StochasticDepth{0.2f}, {{5, 15, 14}}},
            {"OfNothing", StochasticDepth{0.0f}, {{3, 2, 2}}}};
  }

 private:
  [[noreturn]] static void refuse(const StochasticDepth& layer) {
    throw InputError(InputKind::settings,
                     {.where = "model: stochastic_depth: probability",
                      .found = fmt::format("{}", layer.probability),
                      .expected = "a number from 0 and below 1",
                      .hint = ""});
  }
};

const Registered<StochasticDepthKind> kStochasticDepth;

}  // namespace
}  // namespace convoy
