// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/add.h"

#include <algorithm>

#include "convoy/network/kernels/point/epilogue.h"
#include "convoy/network/layers/point/broadcast.h"
#include "convoy/network/layers/relu.h"
#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

/// The sum of two branches of one shape, and the ReLU that may follow it.
class AddStage final : public Stage {
 public:
  AddStage(Shape shape, bool relu)
      : shape_(shape), size_(pack_floats(shape)), relu_(relu) {}

  void forward(const Pass& pass, Activations src, const Activation& dst) override {
    pass.team.run(pass.packs(shape_), [&](std::size_t pack, int) {
      const std::size_t from = pack * size_;
      epilogue_kernels(pass.kernels)
          .scale_shift({.src = src[0].values + from,
                        .scale = 1,
                        .shift = 0,
                        .residual = src[1].values + from,
                        .clamp_min = relu_ ? 0 : kNoClamp,
                        .dst = dst.values + from,
                        .size = size_});
    });
  }

  void backward(const Pass& pass, Activations src, const Activation& dst) override {
    pass.team.run(pass.packs(shape_), [&](std::size_t pack, int) {
      const std::size_t from = pack * size_;
      float* gradient = dst.gradient + from;
      if (relu_) {
        epilogue_kernels(pass.kernels).mask_by_sign({gradient, dst.values + from, size_});
      }
      for (const Activation& to : src) {
        if (to.gradient != nullptr) std::copy_n(gradient, size_, to.gradient + from);
      }
    });
  }

  bool backward_reads_src(std::size_t) const override { return false; }
  bool backward_reads_dst() const override { return relu_; }

 private:
  Shape shape_;
  std::size_t size_;  // of one pack
  bool relu_;
};

class AddKind final : public KindOf<Add, AddKind> {
 public:
  AddKind()
      : KindOf({.name = "add",
                .operation = "Add",
                .least_sources = 2,
                .most_sources = 2,
                .ends_block = true}) {}

  static LayerDescription describe_options(const Add&, const LayerContext& context) {
    const Broadcast checked("add", context.src[0], context.src[1]);
    return {.dst = checked.whole()};
  }
  bool joins(const StageSpec& stage, const LayerInfo& next) const override {
    const bool same = stage.src[0] == stage.src[1];
    return same && stage.joined<Relu>() == nullptr &&
           next.layer.get_if<Relu>() != nullptr;
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext& context) const override {
    const Broadcast broadcast("add", spec.src[0], spec.src[1]);
    if (!broadcast.same()) {
      return make_broadcast_stage(context, broadcast, BroadcastOperation::add);
    }
    return std::make_unique<AddStage>(spec.src[0], spec.joined<Relu>() != nullptr);
  }
  std::vector<LayerExample> examples() const override {
    return broadcast_examples(Add{});
  }
};

const Registered<AddKind> kAdd;

}  // namespace
}  // namespace convoy
