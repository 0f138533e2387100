// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/batch_norm.h"

#include "convoy/network/layers/add.h"
#include "convoy/network/layers/max_pool.h"
#include "convoy/network/layers/norm/batch_norm_stage.h"
#include "convoy/network/layers/point/activations.h"
#include "convoy/network/layers/relu.h"
#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

class BatchNormKind final : public KindOf<BatchNorm, BatchNormKind> {
 public:
  BatchNormKind() : KindOf({.name = "batch_norm", .operation = "BatchNorm"}) {}

  static LayerDescription describe_options(const BatchNorm& layer,
                                           const LayerContext& context) {
    const auto channels = static_cast<std::size_t>(context.first().channels);
    const auto tensor = [&](const char* name, Role role, Initialization init) {
      const bool follows = role == Role::mean || role == Role::variance;
      return TensorSpec{
          layer.name + name, {channels}, role, init, follows ? layer.momentum : 0};
    };
    return {
        .dst = context.first(),
        .parameters = {tensor(".weight", Role::norm_scale, Initialization::ones()),
                       tensor(".bias", Role::norm_shift, Initialization::zeros())},
        .statistics = {tensor(".running_mean", Role::mean, Initialization::zeros()),
                       tensor(".running_var", Role::variance, Initialization::ones())}};
  }

  /// A sum with a residual of the same shape, then a ReLU or a clip; or a ReLU and a max
  /// pool.
  bool joins(const StageSpec& stage, const LayerInfo& next) const override {
    const bool alone = stage.layers.size() == 1;
    const bool has_clip = stage.joined<Clip>() != nullptr;
    const bool is_clamped = stage.joined<Relu>() != nullptr || has_clip;
    const bool has_pool = stage.joined<MaxPool>() != nullptr;
    if (next.layer.get_if<Add>() != nullptr) {
      return alone && next.sources_shapes[0] == next.sources_shapes[1];
    }
    if (next.layer.get_if<Relu>() != nullptr || next.layer.get_if<Clip>() != nullptr) {
      return !is_clamped && !has_pool;
    }
    const auto* pool = next.layer.get_if<MaxPool>();
    return pool != nullptr && pool->is_plain() && !has_pool && !has_clip &&
           stage.joined<Add>() == nullptr;
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext& context) const override {
    BatchNormOptions options{.epsilon = spec.options<BatchNorm>().epsilon,
                             .residual = spec.joined<Add>() != nullptr};
    if (spec.joined<Relu>() != nullptr) options.clamp_min = 0;
    if (const auto* clip = spec.joined<Clip>()) {
      options.clamp_min = clip->min;
      options.clamp_max = clip->max;
    }
    if (const auto* pool = spec.joined<MaxPool>()) options.pool = pool->window.height;
    return make_batch_norm_stage(context, options, spec.src[0]);
  }
  std::vector<LayerExample> examples() const override {
    return {{"OfImages", BatchNorm{"bn"}, {{3, 5, 4}}},
            {"OfTokens", BatchNorm{"bn"}, {{7, 1, 1, 5}}},
            {"WithALargeEpsilon", BatchNorm{"bn", 0.25f, 0.01f}, {{3, 5, 4}}}};
  }
};

const Registered<BatchNormKind> kBatchNorm;

}  // namespace
}  // namespace convoy
