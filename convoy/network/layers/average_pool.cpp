// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/average_pool.h"

#include <fmt/format.h>

#include <algorithm>

#include "convoy/network/layers/window.h"
#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

/// Height and width of an average pool's window.
Shape average_window(const AveragePool& layer, Shape src) {
  if (layer.window == 0) return {1, src.height, src.width};
  return {1, layer.window, layer.window};
}

class AveragePoolStage final : public Stage {
 public:
  AveragePoolStage(const AveragePool& layer, Shape src, Shape dst)
      : src_(src), window_(average_window(layer, src)), dst_(dst) {}

  void forward(const Pass& pass, Activations sources, const Activation& result) override;
  void backward(const Pass& pass, Activations sources, const Activation& dst) override;
  bool backward_reads_src(std::size_t) const override { return false; }
  bool backward_reads_dst() const override { return false; }

 private:
  /// Calls work(offset in src, offset in dst) for each pixel of one plane that a window
  /// covers, sixteen rows at a time.
  template <class Work>
  void for_pixels(std::size_t plane, const Work& work) const;

  Shape src_, window_, dst_;
};

template <class Work>
void AveragePoolStage::for_pixels(std::size_t plane, const Work& work) const {
  for (int y = 0; y < dst_.height * window_.height; ++y) {
    for (int x = 0; x < dst_.width * window_.width; ++x) {
      const std::size_t pixel = plane * src_.pixels() + y * src_.width + x;
      const std::size_t mean =
          plane * dst_.pixels() + y / window_.height * dst_.width + x / window_.width;
      work(pixel * kPack, mean * kPack);
    }
  }
}

void AveragePoolStage::forward(const Pass& pass, Activations sources,
                               const Activation& result) {
  const float* src = sources[0].values;
  float* dst = result.values;
  const float part = 1.0f / static_cast<float>(window_.pixels());
  const auto channels = static_cast<std::size_t>(src_.channels);
  pass.team.run(pass.packs(src_) * channels, [&](std::size_t plane, int) {
    float* means = dst + plane * dst_.pixels() * kPack;
    std::fill_n(means, dst_.pixels() * kPack, 0.0f);
    for_pixels(plane, [&](std::size_t from, std::size_t to) {
      for (int i = 0; i < kPack; ++i) dst[to + i] += src[from + i];
    });
    for (std::size_t i = 0; i < dst_.pixels() * kPack; ++i) means[i] *= part;
  });
}

void AveragePoolStage::backward(const Pass& pass, Activations sources,
                                const Activation& dst) {
  const Activation& src = sources[0];
  if (src.gradient == nullptr) return;
  const float part = 1.0f / static_cast<float>(window_.pixels());
  const auto channels = static_cast<std::size_t>(src_.channels);
  pass.team.run(pass.packs(src_) * channels, [&](std::size_t plane, int) {
    std::fill_n(src.gradient + plane * src_.pixels() * kPack, src_.pixels() * kPack,
                0.0f);
    for_pixels(plane, [&](std::size_t to, std::size_t from) {
      for (int i = 0; i < kPack; ++i) {
        src.gradient[to + i] = part * dst.gradient[from + i];
      }
    });
  });
}

class AveragePoolKind final : public KindOf<AveragePool, AveragePoolKind> {
 public:
  AveragePoolKind() : KindOf({.name = "avg_pool", .operation = "AvgPool"}) {}

  static LayerDescription describe_options(const AveragePool& layer,
                                           const LayerContext& context) {
    const Shape src = context.first();
    refuse_small_image("avg_pool", src, std::max(1, layer.window));
    const Shape window = average_window(layer, src);
    const std::string size = layer.window == 0 ? "all" : fmt::format("{}", layer.window);
    return {.dst = {src.channels, src.height / window.height, src.width / window.width,
                    src.rows},
            .details = {{"window", size}}};
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext&) const override {
    return std::make_unique<AveragePoolStage>(spec.options<AveragePool>(), spec.src[0],
                                              spec.dst());
  }
  std::vector<LayerExample> examples() const override {
    return {{"OfTwo", AveragePool{2}, {{3, 6, 4}}},
            {"Leftover", AveragePool{2}, {{2, 7, 5}}},
            {"OfAll", AveragePool{}, {{3, 5, 7}}}};
  }
};

const Registered<AveragePoolKind> kAveragePool;

}  // namespace
}  // namespace convoy
