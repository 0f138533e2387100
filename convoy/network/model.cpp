// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "convoy/base/error.h"
#include "convoy/base/random.h"
#include "convoy/network/layers/add.h"

namespace convoy {
namespace {

// Of one sample at one layer; kernels count them with int.
constexpr std::size_t kMostElements = std::size_t{1} << 30;

const std::string& label_of(const LayerInfo& layer) {
  return layer.name.empty() ? layer.kind : layer.name;
}

[[noreturn]] void too_large(const LayerInfo& layer) {
  refuse_layer(label_of(layer), fmt::format("{} numbers per sample", layer.dst().size()),
               fmt::format("at most {}", kMostElements), "use smaller images");
}

std::size_t number_of(LayerIndex layer) { return static_cast<std::size_t>(layer); }

/// Describes layer after layer.
class Describer {
 public:
  Describer(const Model& model, const DescribeOptions& options)
      : model_(model), options_(options) {}

  std::vector<LayerInfo> run() {
    for (const ModelNode& node : model_.nodes) append(node);
    return std::move(infos_);
  }

 private:
  void append(const ModelNode& node) {
    LayerInfo info{.layer = node.layer,
                   .sources = node.sources,
                   .kind = node.layer.kind().traits().name,
                   .name = node.layer.name(),
                   .sources_shapes = {},
                   .description = {}};
    for (const LayerIndex source : node.sources) {
      info.sources_shapes.push_back(shape_of(source, info));
    }
    info.description =
        node.layer.kind().describe(node.layer, {.src = info.sources_shapes,
                                                .weight_init = model_.weight_init,
                                                .winograd = options_.winograd,
                                                .training = options_.training});
    if (info.dst().size() > kMostElements) too_large(info);
    if (info.parameters() > 0 && begins_unit(node)) ++units_;
    info.unit = units_ == 0 ? 0 : units_ - 1;
    infos_.push_back(std::move(info));
  }

  /// Requires: the layer has parameters.
  bool begins_unit(const ModelNode& node) {
    if (node.block != 0) return begun_blocks_.insert(node.block).second;
    return node.layer.kind().traits().begins_unit || units_ == 0;
  }

  /// Of what a layer reads.
  Shape shape_of(LayerIndex source, const LayerInfo& reader) const {
    if (source == kModelInput) return model_.input;
    if (source >= 0 && number_of(source) < infos_.size()) {
      return infos_[number_of(source)].dst();
    }
    refuse_layer(label_of(reader), fmt::format("layer {} as a source", source),
                 "the model's input, or a layer before this one");
  }

  const Model& model_;
  DescribeOptions options_;
  std::vector<LayerInfo> infos_;
  std::set<int> begun_blocks_;
  std::size_t units_ = 0;
};

/// Filter i, for as many as there are inputs, passes the middle pixel of input i through.
void fill_identity(const std::vector<std::size_t>& shape, std::span<float> values) {
  const std::size_t inputs = shape[1], taps = shape[2] * shape[3];
  for (std::size_t i = 0; i < std::min(shape[0], inputs); ++i) {
    const std::span<float> filter = values.subspan(i * inputs * taps, inputs * taps);
    std::ranges::fill(filter, 0.0f);
    filter[i * taps + taps / 2] = 1;
  }
}

void fill_first_values(const Segment& segment, const RandomStream& random,
                       std::span<float> values) {
  using Kind = Initialization::Kind;
  const Kind kind = segment.init.kind;
  const float scale = segment.init.scale;
  const auto fill = [&](const auto& draw) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = draw(i);
  };
  switch (kind) {
    case Kind::constant:
      return fill([&](std::size_t) { return scale; });
    case Kind::normal:
      return fill([&](std::size_t i) { return scale * random.normal(i); });
    case Kind::uniform:
    case Kind::dirac:
      fill([&](std::size_t i) { return scale * (2 * random.uniform(i) - 1); });
  }
  if (kind == Kind::dirac) fill_identity(segment.shape, values);
}

void add_tensors(const std::vector<TensorSpec>& tensors, LayoutBuilder& builder,
                 std::set<std::string>& known) {
  for (const TensorSpec& tensor : tensors) {
    if (!known.insert(tensor.name).second) {  // of a layer before
      builder.share(tensor.name);
      continue;
    }
    builder.add(tensor.name, tensor.shape, tensor.role, tensor.init, tensor.momentum);
  }
}

/// Whether a layer has parameters, none of which is trained.
bool is_frozen(const std::vector<TensorSpec>& parameters, const Layout& layout) {
  return !parameters.empty() &&
         std::ranges::none_of(parameters, [&](const TensorSpec& tensor) {
           return layout.segment(layout.find(tensor.name).value()).trained;
         });
}

}  // namespace

Model::Model(std::string name, Shape input, const Sequential& modules,
             WeightInit weight_init)
    : name(std::move(name)), input(input), weight_init(weight_init) {
  append(modules, kModelInput);
}

LayerIndex Model::add(const Module& module) { return append(Sequential{module}, last()); }

LayerIndex Model::add(Layer layer, std::vector<LayerIndex> sources) {
  nodes.push_back({std::move(layer), std::move(sources), open_blocks_ > 0 ? blocks_ : 0});
  return last();
}

void Model::begin_block() {
  if (open_blocks_++ == 0) ++blocks_;
}

void Model::end_block() {
  check(open_blocks_ > 0, "a block that ends has begun");
  --open_blocks_;
}

LayerIndex Model::append(const Sequential& modules, LayerIndex source) {
  for (const Module& module : modules) {
    if (const auto* residual = std::get_if<Residual>(&module)) {
      source = append(*residual, source);
    } else {
      source = add(std::get<Layer>(module), {source});
    }
  }
  return source;
}

LayerIndex Model::append(const Residual& residual, LayerIndex source) {
  check(!residual.body.empty(), "a residual has a body");
  begin_block();
  const LayerIndex body = append(residual.body, source);
  const LayerIndex shortcut = append(residual.shortcut, source);
  const LayerIndex sum = add(Add{}, {body, shortcut});
  end_block();
  return sum;
}

std::size_t LayerInfo::parameters() const {
  std::size_t count = 0;
  for (const TensorSpec& tensor : description.parameters) count += tensor.size();
  return count;
}

std::vector<LayerInfo> describe(const Model& model, const DescribeOptions& options) {
  return Describer(model, options).run();
}

int class_count(const Model& model) {
  return static_cast<int>(describe(model).back().dst().size());
}

Layout build_layout(const Model& model, std::size_t unit_multiple) {
  LayoutBuilder builder(unit_multiple);
  std::set<std::string> known;
  std::size_t units = 0;
  for (const LayerInfo& info : describe(model)) {
    if (info.parameters() == 0) continue;
    for (; units <= info.unit; ++units) builder.begin_unit();
    add_tensors(info.description.parameters, builder, known);
  }
  return std::move(builder).build();
}

Layout build_statistics_layout(const Model& model) {
  LayoutBuilder builder(/*unit_multiple=*/1);
  builder.begin_unit();
  std::set<std::string> known;
  for (const LayerInfo& info : describe(model)) {
    add_tensors(info.description.statistics, builder, known);
  }
  return std::move(builder).build();
}

Layout build_statistics_layout(const Model& model, const Layout& layout) {
  Layout statistics = build_statistics_layout(model);
  std::vector<SegmentId> frozen;
  for (const LayerInfo& info : describe(model)) {
    if (!is_frozen(info.description.parameters, layout)) continue;
    for (const TensorSpec& tensor : info.description.statistics) {
      frozen.push_back(statistics.find(tensor.name).value());
    }
  }
  statistics.freeze(frozen);
  return statistics;
}

void initialize(const Layout& layout, std::uint64_t seed, FlatBuffer& values) {
  std::uint32_t id = 0;
  for (const Segment& segment : layout.segments()) {
    const RandomStream random(seed, RngStream::weights, id++);
    fill_first_values(segment, random, values.view(segment.range));
  }
}

}  // namespace convoy
