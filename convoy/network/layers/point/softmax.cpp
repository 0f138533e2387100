// SPDX-License-Identifier: Apache-2.0
//
// The kernel computes [channel][16 rows]. Of images, a pixel's channels are copied there
// and back.

#include "convoy/network/layers/point/softmax.h"

#include <algorithm>

#include "convoy/network/kernels/softmax.h"
#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

class ChannelSoftmaxStage final : public Stage {
 public:
  ChannelSoftmaxStage(const StageContext& context, Shape shape)
      : shape_(shape),
        channels_(static_cast<std::size_t>(shape.channels)),
        forward_(context.reserve_scratch(columns(), context.forward)),
        backward_(context.reserve_scratch(2 * columns(), context.backward)) {}

  void forward(const Pass& pass, Activations src, const Activation& dst) override {
    for_pixels(pass, [&](std::size_t at, int thread) {
      float* values = scratch(pass, forward_, thread, columns());
      gather(src[0].values + at, values);
      SoftmaxMoments moments;
      softmax_kernels(pass.kernels)
          .softmax(
              {.values = values, .columns = channels_, .scale = 1, .moments = &moments});
      scatter(values, dst.values + at);
    });
  }

  void backward(const Pass& pass, Activations src, const Activation& dst) override {
    if (src[0].gradient == nullptr) return;
    for_pixels(pass, [&](std::size_t at, int thread) {
      float* probabilities = scratch(pass, backward_, thread, 2 * columns());
      float* gradient = probabilities + columns();
      gather(dst.values + at, probabilities);
      gather(dst.gradient + at, gradient);
      softmax_kernels(pass.kernels)
          .gradient({.probabilities = probabilities,
                     .gradient = gradient,
                     .columns = channels_,
                     .scale = 1});
      scatter(gradient, src[0].gradient + at);
    });
  }

  bool backward_reads_src(std::size_t) const override { return false; }
  bool backward_reads_dst() const override { return true; }

 private:
  std::size_t columns() const { return channels_ * kPack; }

  static float* scratch(const Pass& pass, SlotId slot, int thread, std::size_t floats) {
    return pass.arena.get(slot) + static_cast<std::size_t>(thread) * floats;
  }

  template <class Work>
  void for_pixels(const Pass& pass, const Work& work) const {
    const std::size_t pixels = shape_.pixels();
    pass.team.run(pass.packs(shape_) * pixels, [&](std::size_t task, int thread) {
      work(task / pixels * pack_floats(shape_) + task % pixels * kPack, thread);
    });
  }

  void gather(const float* from, float* to) const {
    const std::size_t channel = shape_.pixels() * kPack;
    for (std::size_t c = 0; c < channels_; ++c) {
      std::copy_n(from + c * channel, kPack, to + c * kPack);
    }
  }
  void scatter(const float* from, float* to) const {
    const std::size_t channel = shape_.pixels() * kPack;
    for (std::size_t c = 0; c < channels_; ++c) {
      std::copy_n(from + c * kPack, kPack, to + c * channel);
    }
  }

  Shape shape_;
  std::size_t channels_;
  SlotId forward_, backward_;
};

class ChannelSoftmaxKind final : public KindOf<ChannelSoftmax, ChannelSoftmaxKind> {
 public:
  ChannelSoftmaxKind() : KindOf({.name = "softmax", .operation = "Softmax"}) {}

  static LayerDescription describe_options(const ChannelSoftmax&,
                                           const LayerContext& context) {
    return {.dst = context.first()};
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext& context) const override {
    return std::make_unique<ChannelSoftmaxStage>(context, spec.src[0]);
  }
  std::vector<LayerExample> examples() const override {
    return {{"OfImages", ChannelSoftmax{}, {{3, 5, 4}}},
            {"OfTokens", ChannelSoftmax{}, {{7, 1, 1, 5}}},
            {"OfOneChannel", ChannelSoftmax{}, {{1, 2, 3}}}};
  }
};

const Registered<ChannelSoftmaxKind> kChannelSoftmax;

}  // namespace
}  // namespace convoy
