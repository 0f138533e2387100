// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/norm/local_response_norm.h"

#include <fmt/format.h>

#include <algorithm>

#include "convoy/base/error.h"
#include "convoy/network/kernels/point/local_response.h"
#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

/// A task has all channels of some pixels of a pack.
class LocalResponseNormStage final : public Stage {
 public:
  LocalResponseNormStage(const StageContext& context, const LocalResponseNorm& layer,
                         Shape shape)
      : shape_(shape),
        channels_(static_cast<std::size_t>(shape.channels)),
        window_{.before = static_cast<std::size_t>(layer.size / 2),
                .after = static_cast<std::size_t>((layer.size - 1) / 2),
                .scale = layer.alpha / static_cast<float>(layer.size),
                .k = layer.k,
                .beta = layer.beta},
        terms_(context.reserve_scratch(terms_floats(), context.backward)) {}

  void forward(const Pass& pass, Activations src, const Activation& dst) override {
    for_pixels(pass, [&](std::size_t at, std::size_t pixels, int) {
      local_response_kernels(pass.kernels)
          .normalize({.src = src[0].values + at,
                      .channels = channels_,
                      .channel_stride = shape_.pixels() * kPack,
                      .pixels = pixels,
                      .window = window_,
                      .dst = dst.values + at});
    });
  }

  void backward(const Pass& pass, Activations src, const Activation& dst) override {
    if (src[0].gradient == nullptr) return;
    for_pixels(pass, [&](std::size_t at, std::size_t pixels, int thread) {
      local_response_kernels(pass.kernels)
          .gradient({.src = src[0].values + at,
                     .dst_gradient = dst.gradient + at,
                     .channels = channels_,
                     .channel_stride = shape_.pixels() * kPack,
                     .pixels = pixels,
                     .window = window_,
                     .terms = pass.arena.get(terms_) +
                              static_cast<std::size_t>(thread) * terms_floats(),
                     .src_gradient = src[0].gradient + at});
    });
  }

  bool backward_reads_src(std::size_t) const override { return true; }
  bool backward_reads_dst() const override { return false; }

 private:
  static constexpr std::size_t kPixelsPerTask = 8;

  std::size_t terms_floats() const { return channels_ * kPixelsPerTask * kPack; }

  template <class Work>
  void for_pixels(const Pass& pass, const Work& work) const {
    const std::size_t all = shape_.pixels();
    const std::size_t parts = (all + kPixelsPerTask - 1) / kPixelsPerTask;
    pass.team.run(pass.packs(shape_) * parts, [&](std::size_t task, int thread) {
      const std::size_t first = task % parts * kPixelsPerTask;
      work(task / parts * pack_floats(shape_) + first * kPack,
           std::min(kPixelsPerTask, all - first), thread);
    });
  }

  Shape shape_;
  std::size_t channels_;
  LocalResponseWindow window_;
  SlotId terms_;
};

class LocalResponseNormKind final
    : public KindOf<LocalResponseNorm, LocalResponseNormKind> {
 public:
  LocalResponseNormKind() : KindOf({.name = "local_response_norm", .operation = "LRN"}) {}

  static LayerDescription describe_options(const LocalResponseNorm& layer,
                                           const LayerContext& context) {
    if (layer.size < 1 || !(layer.alpha >= 0) || !(layer.k > 0)) refuse(layer);
    return {.dst = context.first(),
            .details = {{"size", fmt::format("{}", layer.size)},
                        {"alpha", fmt::format("{}", layer.alpha)},
                        {"beta", fmt::format("{}", layer.beta)},
                        {"k", fmt::format("{}", layer.k)}}};
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext& context) const override {
    return std::make_unique<LocalResponseNormStage>(
        context, spec.options<LocalResponseNorm>(), spec.src[0]);
  }
  std::vector<LayerExample> examples() const override {
    return {{"OfImages", LocalResponseNorm{}, {{7, 5, 4}}},
            {"OfStrongNeighbours", LocalResponseNorm{3, 2.0f, 0.6f, 0.5f}, {{5, 3, 3}}},
            {"OfAnEvenSize", LocalResponseNorm{4, 1.5f, 1.25f, 2.0f}, {{6, 2, 1}}},
            {"OfTokens", LocalResponseNorm{5, 1.0f}, {{3, 1, 1, 5}}}};
  }

 private:
  [[noreturn]] static void refuse(const LocalResponseNorm& layer) {
    throw InputError(InputKind::settings,
                     {.where = "model: local_response_norm",
                      .found = fmt::format("size {}, alpha {}, k {}", layer.size,
                                           layer.alpha, layer.k),
                      .expected = "size from 1, alpha from 0, k above 0",
                      .hint = ""});
  }
};

const Registered<LocalResponseNormKind> kLocalResponseNorm;

}  // namespace
}  // namespace convoy
