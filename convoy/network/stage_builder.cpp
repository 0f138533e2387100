// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/stage_builder.h"

#include <algorithm>

namespace convoy {
namespace {

std::size_t index_of(LayerIndex layer) { return static_cast<std::size_t>(layer); }

/// Goes through a model's layers and makes stages of them.
class Fuser {
 public:
  Fuser(const Model& model, const FuseOptions& options)
      : infos_(describe(model,
                        {.winograd = options.winograd, .training = options.training})),
        options_(options),
        value_(infos_.size()),
        uses_(infos_.size()) {
    for (const LayerInfo& info : infos_) {
      for (const LayerIndex source : info.sources) {
        if (source != kModelInput) ++uses_[index_of(source)];
      }
    }
  }

  std::vector<StageSpec> fuse() {
    for (std::size_t i = 0; i < infos_.size(); ++i) assign(i);
    // A stage is computed where its last layer with several sources stands, when all of
    // those are there; else where its first layer stands.
    std::ranges::stable_sort(groups_, {}, &Group::position);
    std::vector<StageSpec> specs;
    for (const Group& group : groups_) {
      specs.push_back(make(group));
      activation_[group.layers.back()] = specs.size();
    }
    return specs;
  }

 private:
  /// Layers of one stage.
  struct Group {
    std::vector<std::size_t> layers;
    std::size_t position;
  };

  /// Whose result a layer reads: layers that change nothing are looked through.
  LayerIndex real_source(LayerIndex layer) const {
    return layer == kModelInput ? kModelInput : value_[index_of(layer)];
  }

  void assign(std::size_t layer) {
    const LayerInfo& info = infos_[layer];
    value_[layer] = info.description.identity ? real_source(info.sources.front())
                                              : static_cast<LayerIndex>(layer);
    if (info.description.identity) return;
    Group* before = group_that_takes(layer);
    if (before == nullptr) {
      groups_.push_back({{layer}, layer});
      return;
    }
    before->layers.push_back(layer);
    if (info.sources.size() > 1) before->position = layer;
  }

  Group* group_that_takes(std::size_t layer) {
    const LayerIndex source = infos_[layer].sources.front();
    if (source == kModelInput || uses_[index_of(source)] != 1) return nullptr;
    const auto ends_there = [&](const Group& group) {
      return group.layers.back() == index_of(source);
    };
    const auto group = std::ranges::find_if(groups_, ends_there);
    if (group == groups_.end()) return nullptr;
    const LayerKind& kind = infos_[group->layers.front()].layer.kind();
    return kind.joins(make(*group), infos_[layer]) ? &*group : nullptr;
  }

  ActivationIndex activation(LayerIndex layer) const {
    const LayerIndex source = real_source(layer);
    return source == kModelInput ? 0 : activation_.at(index_of(source));
  }

  StageSpec make(const Group& group) const {
    StageSpec spec;
    for (const std::size_t layer : group.layers) {
      const LayerInfo& info = infos_[layer];
      const std::size_t skipped = spec.layers.empty() ? 0 : 1;
      for (std::size_t s = skipped; s < info.sources.size(); ++s) {
        spec.sources.push_back(known_activation(info.sources[s]));
        spec.src.push_back(info.sources_shapes[s]);
      }
      spec.layers.push_back(info);
    }
    const LayerInfo& first = spec.first();
    spec.name = first.name.empty() ? first.kind : first.name;
    spec.winograd = options_.winograd;
    spec.training = options_.training;
    return spec;
  }

  /// While layers are still being assigned, activations have no numbers yet.
  ActivationIndex known_activation(LayerIndex layer) const {
    const LayerIndex source = real_source(layer);
    const bool known = source == kModelInput || activation_.contains(index_of(source));
    return known ? activation(layer) : 0;
  }

  std::vector<LayerInfo> infos_;
  FuseOptions options_;
  std::vector<LayerIndex> value_;  // by layer: the layer whose result it gives
  std::vector<int> uses_;          // by layer: how many layers read its result
  std::vector<Group> groups_;
  std::map<std::size_t, ActivationIndex> activation_;  // by the last layer of a stage
};

}  // namespace

std::vector<StageSpec> fuse_layers(const Model& model, const FuseOptions& options) {
  return Fuser(model, options).fuse();
}

}  // namespace convoy
