// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/dropout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoy/base/random.h"
#include "convoy/network/kernels/dropout.h"
#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

/// Which elements are kept is a function of (seed, step, micro-batch, stage, element).
class DropoutStage final : public Stage {
 public:
  DropoutStage(const StageContext& context, const Dropout& layer, Shape shape)
      : probability_(layer.probability),
        shape_(shape),
        number_(context.number),
        kept_(context.reserve_kept(context.most_packs(shape) * shape.features() *
                                   sizeof(std::uint16_t))) {}

  void forward(const Pass& pass, Activations src, const Activation& dst) override {
    scale_kept(pass, src[0].values, dst.values, /*draw=*/true);
  }

  void backward(const Pass& pass, Activations src, const Activation& dst) override {
    if (src[0].gradient == nullptr) return;
    scale_kept(pass, dst.gradient, src[0].gradient, /*draw=*/false);
  }

  bool backward_reads_src(std::size_t) const override { return false; }
  bool backward_reads_dst() const override { return false; }
  bool takes_stored() const override { return true; }

 private:
  void scale_kept(const Pass& pass, const Stored& from, const Stored& to,
                  bool draw) const {
    constexpr std::size_t kChunk = kPieceFloats / kPack;
    const RandomStream random(pass.key.seed, RngStream::dropout, pass.key.step,
                              pass.key.microbatch << 16 | number_);
    const auto threshold = static_cast<std::uint32_t>(std::lround(probability_ * 65536));
    auto* kept = pass.arena.get<std::uint16_t>(kept_);
    const std::size_t rows = pass.packs(shape_) * shape_.features();
    const DropoutKernels& kernels = dropout_kernels(pass.kernels);
    pass.team.run((rows + kChunk - 1) / kChunk, [&](std::size_t chunk, int) {
      const std::size_t first = chunk * kChunk, count = std::min(kChunk, rows - first);
      if (draw) kernels.draw({random, first, count, threshold, kept + first});
      Piece a, b;
      float* scaled = to.target(first * kPack, b.numbers);
      kernels.scale({.src = from.read(first * kPack, count * kPack, a.numbers),
                     .kept = kept + first,
                     .rows = count,
                     .factor = 1.0f / (1.0f - probability_),
                     .dst = scaled});
      to.store(first * kPack, count * kPack, scaled);
    });
  }

  float probability_;
  Shape shape_;
  std::uint32_t number_;
  SlotId kept_;  // one bit per element: [pack][feature] of 16 bits
};

class DropoutKind final : public KindOf<Dropout, DropoutKind> {
 public:
  DropoutKind() : KindOf({.name = "dropout", .operation = "Dropout"}) {}

  static LayerDescription describe_options(const Dropout& layer,
                                           const LayerContext& context) {
    return {.dst = context.first(),
            .identity = !context.training,
            .details = {{"probability", fmt::format("{}", layer.probability)}}};
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext& context) const override {
    return std::make_unique<DropoutStage>(context, spec.options<Dropout>(), spec.src[0]);
  }
  std::vector<LayerExample> examples() const override {
    return {{"OfImages", Dropout{0.4f}, {{3, 5, 4}}},
            {"OfTokens", Dropout{0.1f}, {{7, 1, 1, 5}}},
            {"OfNothing", Dropout{0.0f}, {{3, 2, 2}}}};
  }
};

const Registered<DropoutKind> kDropout;

}  // namespace
}  // namespace convoy
