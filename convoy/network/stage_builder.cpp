// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/stage_builder.h"

#include "convoy/base/error.h"
#include "convoy/network/convolution_stage.h"
#include "convoy/network/linear_stage.h"
#include "convoy/network/point_stages.h"
#include "convoy/network/winograd_stage.h"

namespace convoy {
namespace {

/// Takes the layers of a model one after the other.
class LayerReader {
 public:
  explicit LayerReader(const Model& model) : model_(model), infos_(describe(model)) {}

  bool done() const { return next_ == model_.layers.size(); }

  const Layer& take() { return model_.layers[next_++]; }

  /// Takes the next layer if it is a `Kind`.
  template <class Kind>
  const Kind* take_if() {
    const Kind* layer = done() ? nullptr : std::get_if<Kind>(&model_.layers[next_]);
    if (layer != nullptr) ++next_;
    return layer;
  }

  void put_back() { --next_; }

  /// Of the layer taken last.
  const LayerInfo& info() const { return infos_[next_ - 1]; }

 private:
  const Model& model_;
  std::vector<LayerInfo> infos_;
  std::size_t next_ = 0;
};

void join_followers(LayerReader& layers, StageSpec& spec) {
  const bool convolution = std::holds_alternative<Convolution>(spec.layer);
  if (!convolution && !std::holds_alternative<Linear>(spec.layer)) return;
  spec.relu = layers.take_if<Relu>() != nullptr;
  if (!convolution || spec.winograd) return;
  const MaxPool* pool = layers.take_if<MaxPool>();
  if (pool == nullptr) return;
  if (pool->step == 0 || pool->step == pool->window) {
    spec.pool = pool->window;
  } else {
    layers.put_back();
  }
}

struct MakeStage {
  const StageSpec& spec;
  const StageContext& context;
  const Layout& layout;

  std::unique_ptr<Stage> operator()(const Convolution& layer) const {
    if (spec.winograd) {
      return std::make_unique<WinogradStage>(
          context, layout,
          WinogradOptions{layer, *spec.winograd, spec.relu, spec.segments[0],
                          spec.segments[1]});
    }
    return std::make_unique<ConvolutionStage>(
        context, layout,
        ConvolutionOptions{layer, spec.relu, spec.pool, spec.segments[0],
                           spec.segments[1]});
  }
  std::unique_ptr<Stage> operator()(const Linear& layer) const {
    return std::make_unique<LinearStage>(
        context, layout,
        LinearOptions{layer, spec.relu, spec.segments[0], spec.segments[1]});
  }
  std::unique_ptr<Stage> operator()(const Relu&) const {
    return std::make_unique<ReluStage>(context);
  }
  std::unique_ptr<Stage> operator()(const MaxPool& layer) const {
    return std::make_unique<MaxPoolStage>(context, layer, spec.dst);
  }
  std::unique_ptr<Stage> operator()(const Dropout& layer) const {
    return std::make_unique<DropoutStage>(context, layer);
  }
  std::unique_ptr<Stage> operator()(const Flatten&) const {
    check(false, "flattening is no stage: packs are flat already");
    return nullptr;
  }
};

}  // namespace

std::vector<StageSpec> fuse_layers(const Model& model, bool training,
                                   WinogradMode winograd) {
  std::vector<StageSpec> specs;
  std::size_t units = 0, segments = 0;
  for (LayerReader layers(model); !layers.done();) {
    const Layer& layer = layers.take();
    if (std::holds_alternative<Flatten>(layer)) continue;
    if (std::holds_alternative<Dropout>(layer) && !training) continue;
    StageSpec spec{.layer = layer, .winograd = {}, .dst = {}, .unit = 0, .segments = {}};
    if (layers.info().parameters > 0) {
      ++units;
      spec.segments = {SegmentId{segments}, SegmentId{segments + 1}};
      segments += 2;
    }
    spec.unit = units == 0 ? 0 : units - 1;
    if (const auto* convolution = std::get_if<Convolution>(&layer)) {
      spec.winograd = choose_form(winograd, *convolution, layers.info().src);
    }
    join_followers(layers, spec);
    spec.dst = layers.info().dst;
    specs.push_back(std::move(spec));
  }
  return specs;
}

std::unique_ptr<Stage> make_stage(const StageSpec& spec, const StageContext& context,
                                  const Layout& layout) {
  return std::visit(MakeStage{spec, context, layout}, spec.layer);
}

}  // namespace convoy
