// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoy/base/error.h"
#include "convoy/base/random.h"

namespace convoy {
namespace {

[[noreturn]] void does_not_fit(const std::string& layer, Shape src, int extent) {
  throw InputError(
      InputKind::settings,
      {.where = "model: " + layer,
       .found = fmt::format("images of {} x {} at this layer", src.height, src.width),
       .expected = fmt::format("at least {0} x {0}", extent),
       .hint = "use larger images or another model"});
}

// Of one sample at one layer; kernels count them with int.
constexpr std::size_t kMostElements = std::size_t{1} << 30;

[[noreturn]] void too_large(const LayerInfo& layer) {
  throw InputError(InputKind::settings,
                   {.where = "model: " + (layer.name.empty() ? layer.kind : layer.name),
                    .found = fmt::format("{} numbers a sample", layer.dst.size()),
                    .expected = fmt::format("at most {}", kMostElements),
                    .hint = "use smaller images"});
}

/// Fills in what one kind of layer makes of `info.src`.
struct Describe {
  LayerInfo& info;

  void operator()(const Convolution& layer) const {
    info.kind = "convolution";
    info.name = layer.name;
    const int smallest = layer.kernel - 2 * layer.padding;
    if (std::min(info.src.height, info.src.width) < smallest) {
      does_not_fit(layer.name, info.src, smallest);
    }
    info.dst = output_shape(layer, info.src);
    const std::size_t taps =
        static_cast<std::size_t>(info.src.channels) * layer.kernel * layer.kernel;
    info.parameters = (taps + 1) * layer.channels;
    info.forward_flops = 2 * taps * info.dst.size();
  }

  void operator()(const Linear& layer) const {
    info.kind = "linear";
    info.name = layer.name;
    info.dst = {layer.features, 1, 1};
    info.parameters = (info.src.size() + 1) * layer.features;
    info.forward_flops = 2 * info.src.size() * layer.features;
  }

  void operator()(const MaxPool& layer) const {
    check(layer.window >= 1 && layer.window <= 16, "a pool's choice fits one byte");
    info.kind = "max pool";
    if (std::min(info.src.height, info.src.width) < layer.window) {
      does_not_fit(info.kind, info.src, layer.window);
    }
    const int step = layer.step == 0 ? layer.window : layer.step;
    info.dst = {info.src.channels, (info.src.height - layer.window) / step + 1,
                (info.src.width - layer.window) / step + 1};
  }

  void operator()(const Relu&) const { info.kind = "relu"; }
  void operator()(const Dropout&) const { info.kind = "dropout"; }

  void operator()(const Flatten&) const {
    info.kind = "flatten";
    info.dst = {static_cast<int>(info.src.size()), 1, 1};
  }
};

}  // namespace

Shape output_shape(const Convolution& layer, Shape src) {
  const int reach = layer.kernel - 2 * layer.padding;
  return {layer.channels, (src.height - reach) / layer.step + 1,
          (src.width - reach) / layer.step + 1};
}

std::vector<LayerInfo> describe(const Model& model) {
  std::vector<LayerInfo> infos;
  Shape shape = model.input;
  for (const Layer& layer : model.layers) {
    LayerInfo& info = infos.emplace_back();
    info.src = info.dst = shape;
    std::visit(Describe{info}, layer);
    if (info.dst.size() > kMostElements) too_large(info);
    shape = info.dst;
  }
  return infos;
}

int class_count(const Model& model) {
  return static_cast<int>(describe(model).back().dst.size());
}

Layout build_layout(const Model& model, std::size_t unit_multiple) {
  LayoutBuilder builder(unit_multiple);
  const std::vector<LayerInfo> infos = describe(model);
  for (std::size_t i = 0; i < infos.size(); ++i) {
    const LayerInfo& info = infos[i];
    if (info.parameters == 0) continue;
    builder.begin_unit();
    const auto outputs = static_cast<std::size_t>(info.dst.channels);
    std::vector<std::size_t> shape = {outputs, info.src.size()};
    if (const auto* convolution = std::get_if<Convolution>(&model.layers[i])) {
      const auto kernel = static_cast<std::size_t>(convolution->kernel);
      shape = {outputs, static_cast<std::size_t>(info.src.channels), kernel, kernel};
    }
    builder.add(info.name + ".weight", shape, Role::weight);
    builder.add(info.name + ".bias", {outputs}, Role::bias);
  }
  return std::move(builder).build();
}

void initialize(const Layout& layout, std::uint64_t seed, FlatBuffer& values) {
  float bound = 0;
  for (std::size_t id = 0; id < layout.segments().size(); ++id) {
    const Segment& segment = layout.segments()[id];
    // A bias follows its weight and takes its bound.
    if (segment.role == Role::weight) {
      const std::size_t inputs = segment.range.size() / segment.shape[0];
      bound = 1.0f / std::sqrt(static_cast<float>(inputs));
    }
    const RandomStream random(seed, Purpose::weights, static_cast<std::uint32_t>(id));
    std::uint64_t index = 0;
    for (float& value : values.view(segment.range)) {
      value = bound * (2 * random.uniform(index++) - 1);
    }
  }
}

}  // namespace convoy
