// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/clip.h"

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

/// Both numbers are read whatever they are, so that the loop is one of vectors.
void clip_gradient(const Clip& clip, const float* __restrict values,
                   const float* __restrict from, float* __restrict to, std::size_t size) {
  const float min = clip.min, max = clip.max;
  for (std::size_t i = 0; i < size; ++i) {
    const float gradient = from[i], value = values[i];
    const float below = value < max ? gradient : 0.0f;
    to[i] = value > min ? below : 0.0f;
  }
}

class ClipStage final : public Stage {
 public:
  ClipStage(const Clip& layer, Shape shape) : layer_(layer), shape_(shape) {}

  /// Not-a-number stays.
  void forward(const Pass& pass, Activations src, const Activation& dst) override {
    const float min = layer_.min, max = layer_.max;
    for_planes(pass, [&](std::size_t begin, std::size_t end) {
      const float* from = src[0].values;
      float* to = dst.values;
      for (std::size_t i = begin; i < end; ++i) {
        const float above = from[i] < min ? min : from[i];
        to[i] = above > max ? max : above;
      }
    });
  }

  void backward(const Pass& pass, Activations src, const Activation& dst) override {
    if (src[0].gradient == nullptr) return;
    for_planes(pass, [&](std::size_t begin, std::size_t end) {
      clip_gradient(layer_, dst.values + begin, dst.gradient + begin,
                    src[0].gradient + begin, end - begin);
    });
  }

  bool backward_reads_src(std::size_t) const override { return false; }
  bool backward_reads_dst() const override { return true; }

 private:
  template <class Work>
  void for_planes(const Pass& pass, const Work& work) const {
    const std::size_t size = shape_.pixels() * kPack;
    const auto channels = static_cast<std::size_t>(shape_.channels);
    pass.team.run(pass.packs(shape_) * channels, [&](std::size_t plane, int) {
      work(plane * size, (plane + 1) * size);
    });
  }

  Clip layer_;
  Shape shape_;
};

class ClipKind final : public KindOf<Clip, ClipKind> {
 public:
  ClipKind() : KindOf({.name = "clip", .operation = "ClipByValue", .ends_block = true}) {}

  static LayerDescription describe_options(const Clip& layer,
                                           const LayerContext& context) {
    if (!(layer.min < layer.max)) {
      throw InputError(InputKind::settings,
                       {.where = "model: clip",
                        .found = fmt::format("{} to {}", layer.min, layer.max),
                        .expected = "a min that is less than max",
                        .hint = ""});
    }
    return {.dst = context.first(),
            .details = {{"min", fmt::format("{}", layer.min)},
                        {"max", fmt::format("{}", layer.max)}}};
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext&) const override {
    return std::make_unique<ClipStage>(spec.options<Clip>(), spec.src[0]);
  }
  std::vector<LayerExample> examples() const override {
    return {{"OfImages", Clip{0, 0.5f}, {{3, 5, 4}}},
            {"OfTokens", Clip{-0.25f, 0.5f}, {{7, 1, 1, 5}}}};
  }
};

const Registered<ClipKind> kClip;

}  // namespace
}  // namespace convoy
