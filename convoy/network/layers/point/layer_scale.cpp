// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/point/layer_scale.h"

#include <algorithm>

#include "convoy/network/kernels/point/broadcast.h"
#include "convoy/network/kernels/point/epilogue.h"
#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

class LayerScaleStage final : public Stage {
 public:
  LayerScaleStage(const StageContext& context, Shape shape)
      : shape_(shape),
        channels_(static_cast<std::size_t>(shape.channels)),
        sums_(context.reserve_scratch(kChannelsPerTask * kPack, context.backward)) {}

  void forward(const Pass& pass, Activations src, const Activation& dst) override {
    scale(pass, src[0].values, dst.values);
  }

  void backward(const Pass& pass, Activations src, const Activation& dst) override {
    if (src[0].gradient != nullptr) scale(pass, dst.gradient, src[0].gradient);
    if (pass.parameters[0].gradient != nullptr) sum(pass, src[0].values, dst.gradient);
  }

  bool backward_reads_src(std::size_t) const override { return true; }
  bool backward_reads_dst() const override { return false; }

 private:
  static constexpr std::size_t kChannelsPerTask = 16;

  std::size_t blocks() const {
    return (channels_ + kChannelsPerTask - 1) / kChannelsPerTask;
  }
  std::size_t count(std::size_t first) const {
    return std::min(kChannelsPerTask, channels_ - first);
  }
  std::size_t offset(std::size_t pack, std::size_t channel) const {
    return (pack * channels_ + channel) * shape_.pixels() * kPack;
  }

  void scale(const Pass& pass, const float* from, float* to) const {
    pass.team.run(pass.packs(shape_) * blocks(), [&](std::size_t task, int) {
      const std::size_t first = task % blocks() * kChannelsPerTask;
      const std::size_t at = offset(task / blocks(), first);
      broadcast_kernels(pass.kernels)
          .scale_channels({.src = from + at,
                           .scale = pass.parameters[0].values + first,
                           .dst = to + at,
                           .channels = count(first),
                           .pixels = shape_.pixels()});
    });
  }

  /// A task takes some channels through all packs.
  void sum(const Pass& pass, const float* values, const float* gradient) const {
    pass.team.run(blocks(), [&](std::size_t task, int thread) {
      const std::size_t first = task * kChannelsPerTask;
      float* sums = pass.arena.get(sums_) +
                    static_cast<std::size_t>(thread) * kChannelsPerTask * kPack;
      std::fill_n(sums, kChannelsPerTask * kPack, 0.0f);
      for (std::size_t pack = 0; pack < pass.packs(shape_); ++pack) {
        broadcast_kernels(pass.kernels)
            .add_products({.gradient = gradient + offset(pack, first),
                           .factor = values + offset(pack, first),
                           .sums = sums,
                           .sums_stride = {.channel = kPack, .pixel = 0},
                           .channels = count(first),
                           .pixels = shape_.pixels()});
      }
      for (std::size_t c = 0; c < count(first); ++c) {
        pass.parameters[0].gradient[first + c] =
            epilogue_kernels(pass.kernels).sum(sums + c * kPack, kPack);
      }
    });
  }

  Shape shape_;
  std::size_t channels_;
  SlotId sums_;
};

class LayerScaleKind final : public KindOf<LayerScale, LayerScaleKind> {
 public:
  LayerScaleKind() : KindOf({.name = "layer_scale", .operation = "Mul"}) {}

  static LayerDescription describe_options(const LayerScale& layer,
                                           const LayerContext& context) {
    const Shape src = context.first();
    return {.dst = src,
            .parameters = {{layer.name + ".gamma",
                            {static_cast<std::size_t>(src.channels)},
                            Role::norm_scale,
                            {Initialization::Kind::constant, layer.init}}}};
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext& context) const override {
    return std::make_unique<LayerScaleStage>(context, spec.src[0]);
  }
  std::vector<LayerExample> examples() const override {
    return {{"OfImages", LayerScale{"ls1"}, {{3, 5, 4}}},
            {"OfTokens", LayerScale{"ls1", 0.1f}, {{7, 1, 1, 5}}},
            {"OfManyChannels", LayerScale{"ls1"}, {{37, 1, 2, 3}}}};
  }
};

const Registered<LayerScaleKind> kLayerScale;

}  // namespace
}  // namespace convoy
