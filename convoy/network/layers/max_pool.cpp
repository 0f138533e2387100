// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/max_pool.h"

#include <fmt/format.h>

#include <algorithm>

#include "convoy/network/kernels/pool.h"
#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

// A window's choice fits one byte.
constexpr std::size_t kMostPixels = 256;

/// A max pool that no convolution or batch norm includes: any window, stride and padding.
/// With padding, a plane is pooled and unpooled in a framed copy.
class MaxPoolStage final : public Stage {
 public:
  MaxPoolStage(const StageContext& context, const Window& window, Shape src, Shape dst)
      : window_(window),
        src_(src),
        dst_(dst),
        frame_(window.framed(src)),
        framed_row_(static_cast<std::size_t>(frame_.width) * kPack),
        argmax_(context.reserve_kept(context.most_packs(dst) * pack_floats(dst))) {
    const std::size_t frame = is_framed() ? framed_floats() : 0;
    forward_frame_ = context.reserve_scratch(frame, context.forward);
    backward_frame_ = context.reserve_scratch(frame, context.backward);
    context.ask_for_buffer(pack_floats({1, src.height, src.width}) +
                           pack_floats({1, 1, dst.width}));
  }

  void forward(const Pass& pass, Activations src, const Activation& dst) override;
  void backward(const Pass& pass, Activations src, const Activation& dst) override;
  bool backward_reads_src(std::size_t) const override { return false; }
  bool backward_reads_dst() const override { return false; }
  bool takes_stored() const override { return true; }

 private:
  std::size_t src_plane() const { return src_.pixels() * kPack; }
  std::size_t framed_floats() const {
    return static_cast<std::size_t>(frame_.height) * framed_row_;
  }
  bool is_framed() const { return frame_ != Extent(src_.height, src_.width); }
  /// From the first number of a framed plane to that of row y of the image.
  std::size_t framed_offset(int y) const {
    return static_cast<std::size_t>(y + window_.padding.top) * framed_row_ +
           static_cast<std::size_t>(window_.padding.left) * kPack;
  }
  const float* framed(const Pass& pass, const float* plane, int thread) const;

  Window window_;
  Shape src_, dst_;
  Extent frame_;            // of the source with its frame
  std::size_t framed_row_;  // floats of a row with its frame
  SlotId argmax_, forward_frame_, backward_frame_;
};

/// A plane with a frame around it that no maximum takes; the plane itself without one.
const float* MaxPoolStage::framed(const Pass& pass, const float* plane,
                                  int thread) const {
  if (!is_framed()) return plane;
  float* copy = pass.arena.get(forward_frame_) + thread * framed_floats();
  std::fill_n(copy, framed_floats(), kNoClamp);
  const std::size_t row = static_cast<std::size_t>(src_.width) * kPack;
  for (int y = 0; y < src_.height; ++y) {
    std::copy_n(plane + y * row, row, copy + framed_offset(y));
  }
  return copy;
}

void MaxPoolStage::forward(const Pass& pass, Activations src, const Activation& dst) {
  const std::size_t dst_row = static_cast<std::size_t>(dst_.width) * kPack;
  const auto channels = static_cast<std::size_t>(src_.channels);
  const Stored& values = src[0].values;
  auto* argmax = pass.arena.get<std::uint8_t>(argmax_);
  const PoolKernels& kernels = pool_kernels(pass.kernels);
  pass.team.run(pass.packs(src_) * channels, [&](std::size_t plane, int thread) {
    float* buffer = pass.fp32_buffer(thread);
    const float* from =
        framed(pass, values.read(plane * src_plane(), src_plane(), buffer), thread);
    for (int row = 0; row < dst_.height; ++row) {
      const std::size_t to = (plane * dst_.height + row) * dst_row;
      float* pooled = dst.values.target(to, buffer + src_plane());
      kernels.row({.src = from + row * window_.stride.height * framed_row_,
                   .src_row = framed_row_,
                   .window = window_.size.width,
                   .stride = window_.stride.width,
                   .columns = dst_.width,
                   .clamp_min = kNoClamp,
                   .dst = pooled,
                   .argmax = argmax + to,
                   .window_high = window_.size.height});
      dst.values.store(to, dst_row, pooled);
    }
  });
}

void MaxPoolStage::backward(const Pass& pass, Activations src, const Activation& dst) {
  if (src[0].gradient == nullptr) return;
  const std::size_t dst_row = static_cast<std::size_t>(dst_.width) * kPack;
  const std::size_t src_row = static_cast<std::size_t>(src_.width) * kPack;
  const auto channels = static_cast<std::size_t>(src_.channels);
  const auto* argmax = pass.arena.get<std::uint8_t>(argmax_);
  const PoolKernels& kernels = pool_kernels(pass.kernels);
  pass.team.run(pass.packs(src_) * channels, [&](std::size_t plane, int thread) {
    float* buffer = pass.fp32_buffer(thread);
    float* gradient = src[0].gradient.target(plane * src_plane(), buffer);
    float* to = is_framed() ? pass.arena.get(backward_frame_) + thread * framed_floats()
                            : gradient;
    std::fill_n(to, framed_floats(), 0.0f);
    for (int row = 0; row < dst_.height; ++row) {
      const std::size_t from = (plane * dst_.height + row) * dst_row;
      kernels.unpool_row(
          {.dst_gradient = dst.gradient.read(from, dst_row, buffer + src_plane()),
           .argmax = argmax + from,
           .window = window_.size.width,
           .stride = window_.stride.width,
           .columns = dst_.width,
           .accumulate = true,
           .src_gradient = to + row * window_.stride.height * framed_row_,
           .src_row = framed_row_,
           .window_high = window_.size.height});
    }
    for (int y = 0; y < src_.height && is_framed(); ++y) {
      std::copy_n(to + framed_offset(y), src_row, gradient + y * src_row);
    }
    src[0].gradient.store(plane * src_plane(), src_plane(), gradient);
  });
}

class MaxPoolKind final : public KindOf<MaxPool, MaxPoolKind> {
 public:
  MaxPoolKind() : KindOf({.name = "max_pool", .operation = "MaxPool"}) {}

  static LayerDescription describe_options(const MaxPool& layer,
                                           const LayerContext& context) {
    const Shape src = context.first();
    const Window window = layer.real_window();
    refuse_pool_window("max_pool", src, window);
    if (window.size.pixels() > kMostPixels) {
      refuse_layer(
          "max_pool",
          fmt::format("a window of {} x {}", window.size.height, window.size.width),
          fmt::format("at most {} pixels", kMostPixels));
    }
    const Extent positions = window.positions(src);
    return {.dst = {src.channels, positions.height, positions.width, src.rows},
            .details = window_details(window)};
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext& context) const override {
    return std::make_unique<MaxPoolStage>(context, spec.options<MaxPool>().real_window(),
                                          spec.src[0], spec.dst());
  }
  std::vector<LayerExample> examples() const override {
    return {{"OfTwo", MaxPool{2}, {{3, 6, 4}}},
            {"Leftover", MaxPool{2}, {{2, 7, 5}}},
            {"Overlapping", MaxPool{3, 2}, {{2, 9, 9}}},
            {"Padded", MaxPool{3, 2, 1}, {{2, 7, 8}}},
            {"ThatSkips", MaxPool{2, 3}, {{1, 9, 10}}},
            {"NotSquare", MaxPool{{3, 2}, {2, 1}, {1, 0}}, {{2, 7, 5}}},
            {"PaddedOnTwoSides", MaxPool{3, 2, {0, 0, 1, 1}}, {{2, 6, 8}}},
            {"UpToTheEnd", MaxPool{3, 2, 1, true}, {{2, 6, 8}}},
            {"UpToTheEndWithoutPadding",
             MaxPool{.window = 2, .ceil_mode = true},
             {{2, 5, 7}}}};
  }
};

const Registered<MaxPoolKind> kMaxPool;

}  // namespace
}  // namespace convoy
