// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/stage_builder.h"

#include "convoy/base/error.h"
#include "convoy/network/batch_norm_stage.h"
#include "convoy/network/convolution_stage.h"
#include "convoy/network/linear_stage.h"
#include "convoy/network/point_stages.h"
#include "convoy/network/pool_stages.h"
#include "convoy/network/winograd_stage.h"

namespace convoy {
namespace {

/// Goes through a model's layers and makes stages of them.
class Fuser {
 public:
  Fuser(const Model& model, const Layout& layout, const FuseOptions& options)
      : layout_(layout),
        options_(options),
        infos_(describe(model)),
        made_by_(infos_.size()),
        uses_(infos_.size()),
        summed_(infos_.size()) {
    for (const LayerInfo& info : infos_) {
      count_use(info.source);
      if (!std::holds_alternative<Add>(info.layer)) continue;
      count_use(info.other);
      if (info.source != kModelInput) summed_[at(info.source)] = true;
    }
  }

  std::vector<StageSpec> fuse() {
    while (next_ < infos_.size()) {
      const std::size_t layer = next_++;
      if (is_nothing(layer)) {
        made_by_[layer] = activation(infos_[layer].source);
      } else if (!waits_for_sum(layer)) {
        make(layer);
      }
    }
    return std::move(specs_);
  }

 private:
  static std::size_t at(LayerIndex index) { return static_cast<std::size_t>(index); }

  void count_use(LayerIndex layer) {
    if (layer != kModelInput) ++uses_[at(layer)];
  }

  ActivationIndex activation(LayerIndex layer) const {
    return layer == kModelInput ? 0 : made_by_[at(layer)];
  }

  bool is_nothing(std::size_t layer) const {
    return std::holds_alternative<Flatten>(infos_[layer].layer) ||
           (std::holds_alternative<Dropout>(infos_[layer].layer) && !options_.training);
  }

  /// A batch norm that ends a residual's body is computed together with the sum.
  bool waits_for_sum(std::size_t layer) const {
    return summed_[layer] && uses_[layer] == 1 &&
           std::holds_alternative<BatchNorm>(infos_[layer].layer);
  }

  void make(std::size_t layer) {
    std::size_t first = layer;
    StageSpec& spec = specs_.emplace_back();
    if (std::holds_alternative<Add>(infos_[layer].layer)) {
      spec.residual = activation(infos_[layer].other);
      const LayerIndex body = infos_[layer].source;
      if (body != kModelInput && waits_for_sum(at(body))) first = at(body);
    }
    const LayerInfo& info = infos_[first];
    spec.name = info.name.empty() ? info.kind : info.name;
    spec.flops = spec.real_flops = info.forward_flops;
    spec.layer = info.layer;
    spec.source = activation(info.source);
    spec.src = info.src;
    spec.unit = info.unit;
    for (const char* parameter : {".weight", ".bias"}) {
      const auto segment = layout_.find(info.name + parameter);
      if (segment) spec.segments.push_back(*segment);
    }
    if (const auto* convolution = std::get_if<Convolution>(&info.layer)) {
      spec.winograd = choose_form(options_.winograd, *convolution, info.src);
      if (spec.winograd) {
        spec.real_flops = 2 * static_cast<std::uint64_t>(info.src.channels) *
                          info.dst.channels * multiplications(*spec.winograd, info.dst);
      }
    }
    const std::size_t last = join_followers(layer, spec);
    spec.dst = infos_[last].dst;
    made_by_[last] = specs_.size();
  }

  /// The layer after `layer`, if it is a `Kind` and no other layer uses the output of
  /// `layer`.
  template <class Kind>
  const Kind* follower(std::size_t layer) const {
    if (layer + 1 >= infos_.size() || uses_[layer] != 1) return nullptr;
    if (at(infos_[layer + 1].source) != layer) return nullptr;
    return std::get_if<Kind>(&infos_[layer + 1].layer);
  }

  /// Returns the last layer that became part of the stage.
  std::size_t join_followers(std::size_t layer, StageSpec& spec) {
    const bool convolution = std::holds_alternative<Convolution>(spec.layer);
    const bool norm = std::holds_alternative<BatchNorm>(spec.layer);
    const bool linear = std::holds_alternative<Linear>(spec.layer);
    const bool add = std::holds_alternative<Add>(spec.layer);
    if (!convolution && !norm && !linear && !add) return layer;
    if (follower<Relu>(layer) != nullptr) {
      spec.relu = true;
      layer = next_++;
    }
    const bool takes_pool = (convolution && !spec.winograd) || (norm && !spec.residual);
    if (!takes_pool) return layer;
    const MaxPool* pool = follower<MaxPool>(layer);
    if (pool == nullptr || pool->padding != 0) return layer;
    if (pool->stride != 0 && pool->stride != pool->window) return layer;
    spec.pool = pool->window;
    return next_++;
  }

  const Layout& layout_;
  FuseOptions options_;
  std::vector<LayerInfo> infos_;
  std::vector<ActivationIndex> made_by_;  // by layer: its output
  std::vector<int> uses_;                 // by layer: how many layers read that
  std::vector<bool> summed_;              // by layer: whether it ends a residual's body
  std::size_t next_ = 0;
  std::vector<StageSpec> specs_;
};

struct MakeStage {
  const StageSpec& spec;
  const StageContext& context;
  const Layout& layout;
  const Layout& statistics;

  std::optional<SegmentId> bias() const {
    if (spec.segments.size() < 2) return std::nullopt;
    return spec.segments[1];
  }

  std::unique_ptr<Stage> operator()(const Convolution& layer) const {
    if (spec.winograd) {
      return std::make_unique<WinogradStage>(
          context, layout,
          WinogradOptions{layer, *spec.winograd, spec.relu, spec.segments[0], bias()});
    }
    return std::make_unique<ConvolutionStage>(
        context, layout,
        ConvolutionOptions{layer, spec.relu, spec.pool, spec.segments[0], bias()});
  }
  std::unique_ptr<Stage> operator()(const Linear& layer) const {
    return std::make_unique<LinearStage>(
        context, layout,
        LinearOptions{layer, spec.relu, spec.segments[0], spec.segments[1]});
  }
  std::unique_ptr<Stage> operator()(const BatchNorm& layer) const {
    const auto range = [&](const char* name) {
      return statistics.segment(*statistics.find(layer.name + name)).range;
    };
    return std::make_unique<BatchNormStage>(
        context, BatchNormOptions{.relu = spec.relu,
                                  .residual = spec.residual.has_value(),
                                  .pool = spec.pool,
                                  .scale = layout.segment(spec.segments[0]).range,
                                  .shift = layout.segment(spec.segments[1]).range,
                                  .mean = range(".running_mean"),
                                  .variance = range(".running_var")});
  }
  std::unique_ptr<Stage> operator()(const Relu&) const {
    return std::make_unique<ReluStage>(context);
  }
  std::unique_ptr<Stage> operator()(const Gelu&) const {
    return std::make_unique<GeluStage>(context);
  }
  std::unique_ptr<Stage> operator()(const Add&) const {
    return std::make_unique<AddStage>(context, spec.relu);
  }
  std::unique_ptr<Stage> operator()(const MaxPool& layer) const {
    return std::make_unique<MaxPoolStage>(context, layer, spec.dst);
  }
  std::unique_ptr<Stage> operator()(const AveragePool& layer) const {
    return std::make_unique<AveragePoolStage>(context, layer, spec.dst);
  }
  std::unique_ptr<Stage> operator()(const Dropout& layer) const {
    return std::make_unique<DropoutStage>(context, layer);
  }
  std::unique_ptr<Stage> operator()(const Flatten&) const {
    check(false, "flattening is no stage: packs are flat already");
    return nullptr;
  }
  std::unique_ptr<Stage> operator()(const Residual&) const {
    check(false, "residuals are laid out flat before");
    return nullptr;
  }
};

}  // namespace

std::vector<StageSpec> fuse_layers(const Model& model, const Layout& layout,
                                   const FuseOptions& options) {
  return Fuser(model, layout, options).fuse();
}

std::unique_ptr<Stage> make_stage(const StageSpec& spec, const StageContext& context,
                                  const Layout& layout, const Layout& statistics) {
  return std::visit(MakeStage{spec, context, layout, statistics}, spec.layer);
}

}  // namespace convoy
