// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/rearrange/image_rows.h"

#include <fmt/format.h>

#include "convoy/network/layers/rearrange/pixel_rows.h"
#include "convoy/network/layers/rearrange/rearrange_stage.h"
#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

/// Either way; the gradient goes the other way. A task moves some channels of sixteen
/// samples.
class ImageRowsStage final : public Stage {
 public:
  ImageRowsStage(Shape image, bool to_rows) : image_(image), to_rows_(to_rows) {}

  void forward(const Pass& pass, Activations src, const Activation& dst) override {
    move(pass, src[0].values, dst.values, to_rows_);
  }
  void backward(const Pass& pass, Activations src, const Activation& dst) override {
    if (src[0].gradient == nullptr) return;
    move(pass, dst.gradient, src[0].gradient, !to_rows_);
  }

  bool backward_reads_src(std::size_t) const override { return false; }
  bool backward_reads_dst() const override { return false; }

 private:
  static constexpr std::size_t kChannelsPerTask = 8;

  void move(const Pass& pass, const float* from, float* to, bool to_rows) const {
    const auto channels = static_cast<std::size_t>(image_.channels);
    const std::size_t parts = (channels + kChannelsPerTask - 1) / kChannelsPerTask;
    pass.team.run(pass.packs(image_) * parts, [&](std::size_t task, int) {
      const std::size_t pack = task / parts, first = task % parts * kChannelsPerTask;
      const std::size_t end = std::min(channels, first + kChannelsPerTask);
      const std::size_t rows_at = pack * pack_floats(image_);
      const std::size_t image_at = rows_at + first * image_.pixels() * kPack;
      const PixelRows of{channels, image_.pixels(),
                         static_cast<std::size_t>(pass.real_rows(image_, pack))};
      if (to_rows) {
        pixels_to_rows(of, first, end, from + image_at, to + rows_at);
      } else {
        rows_to_pixels(of, first, end, from + rows_at, to + image_at);
      }
    });
  }

  Shape image_;
  bool to_rows_;
};

class ImageToRowsKind final : public KindOf<ImageToRows, ImageToRowsKind> {
 public:
  ImageToRowsKind() : KindOf({.name = "image_to_rows", .operation = "Transpose"}) {}

  static LayerDescription describe_options(const ImageToRows&,
                                           const LayerContext& context) {
    const Shape src = context.first();
    if (src.rows != 1) {
      refuse_layer("image_to_rows", fmt::format("{} rows", src.rows),
                   "images, which are one row");
    }
    return {.dst = {src.channels, 1, 1, src.height * src.width}};
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext&) const override {
    return std::make_unique<ImageRowsStage>(spec.src[0], /*to_rows=*/true);
  }
  std::vector<LayerExample> examples() const override {
    return {{"OfImages", ImageToRows{}, {{3, 5, 4}}},
            {"OfManyChannels", ImageToRows{}, {{19, 2, 1}}},
            {"OfOnePixel", ImageToRows{}, {{5, 1, 1}}}};
  }
};

class RowsToImageKind final : public KindOf<RowsToImage, RowsToImageKind> {
 public:
  RowsToImageKind() : KindOf({.name = "rows_to_image", .operation = "Transpose"}) {}

  static LayerDescription describe_options(const RowsToImage& layer,
                                           const LayerContext& context) {
    const Shape src = context.first();
    if (src.pixels() != 1 || layer.height < 1 || layer.width < 1 ||
        src.rows != layer.height * layer.width) {
      refuse_layer("rows_to_image",
                   fmt::format("{} rows of {} x {}", src.rows, src.height, src.width),
                   fmt::format("{} x {} rows of one pixel", layer.height, layer.width));
    }
    return {.dst = {src.channels, layer.height, layer.width}};
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext&) const override {
    return std::make_unique<ImageRowsStage>(spec.dst(), /*to_rows=*/false);
  }
  std::vector<LayerExample> examples() const override {
    return {{"OfTokens", RowsToImage{5, 3}, {{3, 1, 1, 15}}},
            {"OfManyChannels", RowsToImage{2, 1}, {{19, 1, 1, 2}}}};
  }
};

const Registered<ImageToRowsKind> kImageToRows;
const Registered<RowsToImageKind> kRowsToImage;

}  // namespace
}  // namespace convoy
