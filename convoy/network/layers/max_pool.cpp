// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/max_pool.h"

#include <algorithm>

#include "convoy/base/error.h"
#include "convoy/network/layers/window.h"
#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

/// A max pool that no convolution or batch norm includes: any window, stride and padding.
/// With padding, a plane is pooled and unpooled in a framed copy.
class MaxPoolStage final : public Stage {
 public:
  MaxPoolStage(const StageContext& context, const MaxPool& layer, Shape src, Shape dst)
      : layer_(layer),
        src_(src),
        dst_(dst),
        framed_row_(static_cast<std::size_t>(src_.width + 2 * layer.padding) * kPack),
        argmax_(context.reserve_kept(context.most_packs(dst) * pack_floats(dst))) {
    layer_.stride = layer.real_stride();
    const std::size_t frame = layer.padding > 0 ? framed_floats() : 0;
    forward_frame_ = context.reserve_scratch(frame, context.forward);
    backward_frame_ = context.reserve_scratch(frame, context.backward);
  }

  void forward(const Pass& pass, Activations src, const Activation& dst) override;
  void backward(const Pass& pass, Activations src, const Activation& dst) override;
  bool backward_reads_src(std::size_t) const override { return false; }
  bool backward_reads_dst() const override { return false; }

 private:
  std::size_t framed_floats() const {
    return static_cast<std::size_t>(src_.height + 2 * layer_.padding) * framed_row_;
  }
  const float* framed(const Pass& pass, const float* plane, int thread) const;

  MaxPool layer_;
  Shape src_, dst_;
  std::size_t framed_row_;  // floats of a row with its frame
  SlotId argmax_, forward_frame_, backward_frame_;
};

/// A plane with a frame around it that no maximum takes; the plane itself without
/// padding.
const float* MaxPoolStage::framed(const Pass& pass, const float* plane,
                                  int thread) const {
  const int padding = layer_.padding;
  if (padding == 0) return plane;
  float* copy = pass.arena.get(forward_frame_) + thread * framed_floats();
  std::fill_n(copy, framed_floats(), kNoClamp);
  const std::size_t row = static_cast<std::size_t>(src_.width) * kPack;
  for (int y = 0; y < src_.height; ++y) {
    std::copy_n(plane + y * row, row,
                copy + (y + padding) * framed_row_ + padding * kPack);
  }
  return copy;
}

void MaxPoolStage::forward(const Pass& pass, Activations src, const Activation& dst) {
  const std::size_t dst_row = static_cast<std::size_t>(dst_.width) * kPack;
  const auto channels = static_cast<std::size_t>(src_.channels);
  auto* argmax = pass.arena.get<std::uint8_t>(argmax_);
  pass.team.run(pass.packs(src_) * channels, [&](std::size_t plane, int thread) {
    const float* from =
        framed(pass, src[0].values + plane * src_.pixels() * kPack, thread);
    for (int row = 0; row < dst_.height; ++row) {
      const std::size_t to = (plane * dst_.height + row) * dst_row;
      pass.kernels.pool_row({.src = from + row * layer_.stride * framed_row_,
                             .src_row = framed_row_,
                             .window = layer_.window,
                             .stride = layer_.stride,
                             .columns = dst_.width,
                             .clamp_min = kNoClamp,
                             .dst = dst.values + to,
                             .argmax = argmax + to});
    }
  });
}

void MaxPoolStage::backward(const Pass& pass, Activations src, const Activation& dst) {
  if (src[0].gradient == nullptr) return;
  const std::size_t dst_row = static_cast<std::size_t>(dst_.width) * kPack;
  const std::size_t src_row = static_cast<std::size_t>(src_.width) * kPack;
  const auto channels = static_cast<std::size_t>(src_.channels);
  const int padding = layer_.padding;
  const auto* argmax = pass.arena.get<std::uint8_t>(argmax_);
  pass.team.run(pass.packs(src_) * channels, [&](std::size_t plane, int thread) {
    float* gradient = src[0].gradient + plane * src_.pixels() * kPack;
    float* to = padding == 0 ? gradient
                             : pass.arena.get(backward_frame_) + thread * framed_floats();
    std::fill_n(to, framed_floats(), 0.0f);
    for (int row = 0; row < dst_.height; ++row) {
      const std::size_t from = (plane * dst_.height + row) * dst_row;
      pass.kernels.unpool_row({dst.gradient + from, argmax + from, layer_.window,
                               layer_.stride, dst_.width, /*accumulate=*/true,
                               to + row * layer_.stride * framed_row_, framed_row_});
    }
    if (padding == 0) return;
    for (int y = 0; y < src_.height; ++y) {
      std::copy_n(to + (y + padding) * framed_row_ + padding * kPack, src_row,
                  gradient + y * src_row);
    }
  });
}

class MaxPoolKind final : public KindOf<MaxPool, MaxPoolKind> {
 public:
  MaxPoolKind() : KindOf({.name = "max_pool", .operation = "MaxPool"}) {}

  static LayerDescription describe_options(const MaxPool& layer,
                                           const LayerContext& context) {
    check(layer.window >= 1 && layer.window <= 16, "a pool's choice fits one byte");
    check(2 * layer.padding <= layer.window,
          "no window of a pool lies outside the image");
    const Shape src = context.first();
    refuse_small_image("max_pool", src, layer.window - 2 * layer.padding);
    const int stride = layer.real_stride();
    const auto positions = [&](int side) {
      return window_positions(side, layer.window, stride, layer.padding);
    };
    return {.dst = {src.channels, positions(src.height), positions(src.width), src.rows},
            .details = window_details(layer.window, stride, layer.padding)};
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext& context) const override {
    return std::make_unique<MaxPoolStage>(context, spec.options<MaxPool>(), spec.src[0],
                                          spec.dst());
  }
  std::vector<LayerExample> examples() const override {
    return {{"OfTwo", MaxPool{2}, {{3, 6, 4}}},
            {"Leftover", MaxPool{2}, {{2, 7, 5}}},
            {"Overlapping", MaxPool{3, 2}, {{2, 9, 9}}},
            {"Padded", MaxPool{3, 2, 1}, {{2, 7, 8}}},
            {"ThatSkips", MaxPool{2, 3}, {{1, 9, 10}}}};
  }
};

const Registered<MaxPoolKind> kMaxPool;

}  // namespace
}  // namespace convoy
