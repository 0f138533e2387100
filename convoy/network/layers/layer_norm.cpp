// SPDX-License-Identifier: Apache-2.0
//
// A task normalises one pack of rows. The parameters' gradients sum over rows: a task
// takes some features through all packs, so that no sum is shared by tasks.

#include "convoy/network/layers/layer_norm.h"

#include <algorithm>

#include "convoy/network/kernels/point/epilogue.h"
#include "convoy/network/kernels/row_norm.h"
#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

constexpr std::size_t kNormScale = 0, kNormShift = 1;

class LayerNormStage final : public Stage {
 public:
  LayerNormStage(const StageContext& context, const LayerNorm& layer, Shape shape)
      : shape_(shape),
        epsilon_(layer.epsilon),
        moments_(context.reserve_kept(context.most_packs(shape) * sizeof(RowMoments))),
        sums_(context.reserve_scratch(2 * kFeaturesPerTask * kPack, context.backward)) {
    context.ask_for_buffer(3 * pack_floats(shape));
  }

  void forward(const Pass& pass, Activations src, const Activation& dst) override {
    auto* moments = pass.arena.get<RowMoments>(moments_);
    const std::size_t size = pack_floats(shape_);
    pass.team.run(pass.packs(shape_), [&](std::size_t pack, int thread) {
      float* buffer = pass.fp32_buffer(thread);
      float* to = dst.values.target(pack * size, buffer + size);
      row_norm_kernels(pass.kernels)
          .normalize({.src = src[0].values.read(pack * size, size, buffer),
                      .features = shape_.features(),
                      .scale = pass.parameters[kNormScale].values,
                      .shift = pass.parameters[kNormShift].values,
                      .epsilon = epsilon_,
                      .dst = to,
                      .moments = moments + pack});
      dst.values.store(pack * size, size, to);
    });
  }

  void backward(const Pass& pass, Activations src, const Activation& dst) override {
    sum_gradients(pass, src[0].values, dst.gradient);
    if (src[0].gradient == nullptr) return;
    const auto* moments = pass.arena.get<RowMoments>(moments_);
    const std::size_t size = pack_floats(shape_);
    pass.team.run(pass.packs(shape_), [&](std::size_t pack, int thread) {
      float* buffer = pass.fp32_buffer(thread);
      float* to = src[0].gradient.target(pack * size, buffer + 2 * size);
      row_norm_kernels(pass.kernels)
          .gradient({.dst_gradient = dst.gradient.read(pack * size, size, buffer),
                     .src = src[0].values.read(pack * size, size, buffer + size),
                     .features = shape_.features(),
                     .scale = pass.parameters[kNormScale].values,
                     .moments = moments + pack,
                     .src_gradient = to});
      src[0].gradient.store(pack * size, size, to);
    });
  }

  bool backward_reads_src(std::size_t) const override { return true; }
  bool backward_reads_dst() const override { return false; }
  bool is_cheap() const override { return true; }
  bool takes_stored() const override { return true; }

 private:
  static constexpr std::size_t kFeaturesPerTask = 32;

  void sum_gradients(const Pass& pass, const Stored& src, const Stored& dst_gradient) {
    float* scale = pass.parameters[kNormScale].gradient;
    float* shift = pass.parameters[kNormShift].gradient;
    if (scale == nullptr && shift == nullptr) return;
    const std::size_t features = shape_.features();
    const auto* moments = pass.arena.get<RowMoments>(moments_);
    const EpilogueKernels& epilogue = epilogue_kernels(pass.kernels);
    const std::size_t tasks = (features + kFeaturesPerTask - 1) / kFeaturesPerTask;
    pass.team.run(tasks, [&](std::size_t task, int thread) {
      const std::size_t first = task * kFeaturesPerTask;
      const std::size_t count = std::min(kFeaturesPerTask, features - first);
      float* sums = pass.arena.get(sums_) + thread * 2 * kFeaturesPerTask * kPack;
      float* products = sums + kFeaturesPerTask * kPack;
      std::fill_n(sums, 2 * kFeaturesPerTask * kPack, 0.0f);
      for (std::size_t pack = 0; pack < pass.packs(shape_); ++pack) {
        const std::size_t from = (pack * features + first) * kPack;
        Piece a, b;
        row_norm_kernels(pass.kernels)
            .add_sums({.dst_gradient = dst_gradient.read(from, count * kPack, a.numbers),
                       .src = src.read(from, count * kPack, b.numbers),
                       .features = count,
                       .moments = moments + pack,
                       .sums = sums,
                       .products = products});
      }
      for (std::size_t f = 0; f < count; ++f) {
        if (shift != nullptr) shift[first + f] = epilogue.sum(sums + f * kPack, kPack);
        if (scale == nullptr) continue;
        scale[first + f] = epilogue.sum(products + f * kPack, kPack);
      }
    });
  }

  Shape shape_;
  float epsilon_;
  SlotId moments_, sums_;
};

class LayerNormKind final : public KindOf<LayerNorm, LayerNormKind> {
 public:
  LayerNormKind() : KindOf({.name = "layer_norm", .operation = "LayerNorm"}) {}

  static LayerDescription describe_options(const LayerNorm& layer,
                                           const LayerContext& context) {
    const Shape src = context.first();
    const std::size_t features = src.features();
    return {.dst = src,
            .parameters = {{layer.name + ".weight",
                            {features},
                            Role::norm_scale,
                            Initialization::ones()},
                           {layer.name + ".bias",
                            {features},
                            Role::norm_shift,
                            Initialization::zeros()}}};
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext& context) const override {
    return std::make_unique<LayerNormStage>(context, spec.options<LayerNorm>(),
                                            spec.src[0]);
  }
  std::vector<LayerExample> examples() const override {
    return {{"OfTokens", LayerNorm{"norm"}, {{7, 1, 1, 5}}},
            {"OfImages", LayerNorm{"norm", 1e-6f}, {{3, 5, 4}}},
            {"OfManyFeatures", LayerNorm{"norm"}, {{133, 1, 1, 2}}}};
  }
};

const Registered<LayerNormKind> kLayerNorm;

}  // namespace
}  // namespace convoy
