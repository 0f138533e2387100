// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/patches.h"

#include <fmt/format.h>

#include <algorithm>

#include "convoy/base/error.h"
#include "convoy/network/row_copy.h"
#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

/// A patch's pixels are gathered from the sixteen images of a pack into rows, or back.
class PatchesStage final : public Stage {
 public:
  PatchesStage(const Patches& layer, Shape src, Shape dst)
      : size_(static_cast<std::size_t>(layer.size)), src_(src), dst_(dst) {}

  void forward(const Pass& pass, Activations src, const Activation& dst) override {
    const std::size_t features = dst_.features(), rows = pass.rows(dst_);
    pass.team.run(pass.packs(dst_), [&](std::size_t pack, int) {
      float* to = dst.values + pack * features * kPack;
      for (std::size_t lane = 0; lane < kPack; ++lane) {
        const std::size_t row = pack * kPack + lane;
        if (row < rows) {
          for_pixels(row, [&](std::size_t f, std::size_t pixel) {
            to[f * kPack + lane] = src[0].values[pixel];
          });
        } else {
          for (std::size_t f = 0; f < features; ++f) to[f * kPack + lane] = 0;
        }
      }
    });
  }

  void backward(const Pass& pass, Activations src, const Activation& dst) override {
    if (src[0].gradient == nullptr) return;
    const std::size_t features = dst_.features(), rows = pass.rows(dst_);
    const std::size_t floats = pass.packs(src_) * pack_floats(src_);
    src[0].gradient.fill_zeros(0, floats);  // also what no patch covers
    pass.team.run(rows, [&](std::size_t row, int) {
      const float* from = dst.gradient + row_offset(row, features);
      for_pixels(row, [&](std::size_t f, std::size_t pixel) {
        src[0].gradient[pixel] = from[f * kPack];
      });
    });
  }

  bool backward_reads_src(std::size_t) const override { return false; }
  bool backward_reads_dst() const override { return false; }

 private:
  /// Calls work(feature, where the source has it) for the patch that is a row.
  template <class Work>
  void for_pixels(std::size_t row, const Work& work) const {
    const auto width = static_cast<std::size_t>(src_.width);
    const std::size_t patches = static_cast<std::size_t>(dst_.rows);
    const std::size_t across = width / size_;
    const std::size_t sample = row / patches, patch = row % patches;
    const std::size_t top = patch / across * size_, left = patch % across * size_;
    const std::size_t first = row_offset(sample, src_.features());
    std::size_t f = 0;
    for (std::size_t c = 0; c < static_cast<std::size_t>(src_.channels); ++c) {
      for (std::size_t y = 0; y < size_; ++y) {
        const std::size_t line = c * src_.pixels() + (top + y) * width + left;
        for (std::size_t x = 0; x < size_; ++x) work(f++, first + (line + x) * kPack);
      }
    }
  }

  std::size_t size_;
  Shape src_, dst_;
};

class PatchesKind final : public KindOf<Patches, PatchesKind> {
 public:
  PatchesKind() : KindOf({.name = "patches", .operation = "ExtractImagePatches"}) {}

  static LayerDescription describe_options(const Patches& layer,
                                           const LayerContext& context) {
    const Shape src = context.first();
    if (src.rows != 1 || src.height < layer.size || src.width < layer.size ||
        src.height % layer.size != 0 || src.width % layer.size != 0) {
      refuse(layer, src);
    }
    const int patches = src.height / layer.size * (src.width / layer.size);
    return {.dst = {src.channels * layer.size * layer.size, 1, 1, patches},
            .details = {{"window", fmt::format("{}", layer.size)}}};
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext&) const override {
    return std::make_unique<PatchesStage>(spec.options<Patches>(), spec.src[0],
                                          spec.dst());
  }
  std::vector<LayerExample> examples() const override {
    return {{"OfTwo", Patches{2}, {{3, 6, 4}}}, {"OfOneImage", Patches{4}, {{2, 4, 4}}}};
  }

 private:
  [[noreturn]] static void refuse(const Patches& layer, Shape src) {
    throw InputError(
        InputKind::settings,
        {.where = "model: patches",
         .found = fmt::format("images of {} x {}", src.height, src.width),
         .expected = fmt::format("multiples of {}, the size of a patch", layer.size),
         .hint = "set data.resize"});
  }
};

const Registered<PatchesKind> kPatches;

}  // namespace
}  // namespace convoy
