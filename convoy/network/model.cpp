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

/// The output size of a window that moves by `stride` over a source of this size.
int positions(int side, int window, int stride, int padding) {
  return (side + 2 * padding - window) / stride + 1;
}

void refuse_small(const LayerInfo& info, int smallest) {
  if (std::min(info.src.height, info.src.width) >= smallest) return;
  does_not_fit(info.name.empty() ? info.kind : info.name, info.src, smallest);
}

/// Fills in what one kind of layer makes of `info.src`.
struct Describe {
  LayerInfo& info;

  void operator()(const Convolution& layer) const {
    info.kind = "convolution";
    info.name = layer.name;
    refuse_small(info, layer.kernel - 2 * layer.padding);
    info.dst = output_shape(layer, info.src);
    const std::size_t taps =
        static_cast<std::size_t>(info.src.channels) * layer.kernel * layer.kernel;
    info.parameters = (taps + (layer.bias ? 1 : 0)) * layer.channels;
    info.forward_flops = 2 * taps * info.dst.size();
  }

  void operator()(const Linear& layer) const {
    info.kind = "linear";
    info.name = layer.name;
    info.dst = {layer.features, 1, 1};
    info.parameters = (info.src.size() + 1) * layer.features;
    info.forward_flops = 2 * info.src.size() * layer.features;
  }

  void operator()(const BatchNorm& layer) const {
    info.kind = "batch norm";
    info.name = layer.name;
    info.parameters = 2 * static_cast<std::size_t>(info.src.channels);
  }

  void operator()(const MaxPool& layer) const {
    check(layer.window >= 1 && layer.window <= 16, "a pool's choice fits one byte");
    check(2 * layer.padding <= layer.window,
          "no window of a pool lies outside the image");
    info.kind = "max pool";
    refuse_small(info, layer.window - 2 * layer.padding);
    const int stride = layer.stride == 0 ? layer.window : layer.stride;
    info.dst = {info.src.channels,
                positions(info.src.height, layer.window, stride, layer.padding),
                positions(info.src.width, layer.window, stride, layer.padding)};
  }

  void operator()(const AveragePool& layer) const {
    info.kind = "average pool";
    refuse_small(info, std::max(1, layer.window));
    const Shape window = pool_window(layer, info.src);
    info.dst = {info.src.channels, info.src.height / window.height,
                info.src.width / window.width};
  }

  void operator()(const Relu&) const { info.kind = "relu"; }
  void operator()(const Gelu&) const { info.kind = "gelu"; }
  void operator()(const Dropout&) const { info.kind = "dropout"; }
  void operator()(const Add&) const { info.kind = "add"; }

  void operator()(const Flatten&) const {
    info.kind = "flatten";
    info.dst = {static_cast<int>(info.src.size()), 1, 1};
  }

  void operator()(const Residual&) const { check(false, "a residual is laid out flat"); }
};

/// Lays a model's layers out flat, residuals included.
class Describer {
 public:
  explicit Describer(Shape input) : input_(input) {}

  /// Appends a row of layers that begins at `source`; returns its last layer.
  LayerIndex append(const std::vector<Layer>& layers, LayerIndex source) {
    for (const Layer& layer : layers) {
      if (const auto* residual = std::get_if<Residual>(&layer)) {
        source = append(*residual, source);
      } else {
        source = append(layer, source);
      }
    }
    return source;
  }

  std::vector<LayerInfo> infos;

 private:
  LayerIndex append(const Layer& layer, LayerIndex source) {
    LayerInfo& info = infos.emplace_back();
    info.layer = layer;
    info.source = source;
    info.src = info.dst = shape_of(source);
    std::visit(Describe{info}, layer);
    if (info.dst.size() > kMostElements) too_large(info);
    if (info.parameters > 0 && begins_unit(layer)) ++units_;
    info.unit = units_ == 0 ? 0 : units_ - 1;
    return static_cast<LayerIndex>(infos.size()) - 1;
  }

  LayerIndex append(const Residual& residual, LayerIndex source) {
    check(!residual.body.empty(), "a residual has a body");
    const bool outermost = !inside_;
    if (outermost) units_before_ = units_;
    inside_ = true;
    const LayerIndex body = append(residual.body, source);
    const LayerIndex shortcut = append(residual.shortcut, source);
    check(shape_of(body) == shape_of(shortcut), "a residual adds what is of one shape");
    const LayerIndex sum = append(Add{}, body);
    infos.back().other = shortcut;
    inside_ = !outermost;
    return sum;
  }

  bool begins_unit(const Layer& layer) const {
    if (inside_) return units_ == units_before_;
    return !std::holds_alternative<BatchNorm>(layer) || units_ == 0;
  }

  Shape shape_of(LayerIndex layer) const {
    return layer == kModelInput ? input_ : infos[static_cast<std::size_t>(layer)].dst;
  }

  Shape input_;
  bool inside_ = false;           // a residual
  std::size_t units_before_ = 0;  // it
  std::size_t units_ = 0;
};

void add_parameters(const LayerInfo& info, LayoutBuilder& builder) {
  const auto outputs = static_cast<std::size_t>(info.dst.channels);
  if (std::holds_alternative<BatchNorm>(info.layer)) {
    builder.add(info.name + ".weight", {outputs}, Role::norm_scale);
    builder.add(info.name + ".bias", {outputs}, Role::norm_shift);
    return;
  }
  const auto* convolution = std::get_if<Convolution>(&info.layer);
  if (convolution == nullptr) {
    builder.add(info.name + ".weight", {outputs, info.src.size()}, Role::weight);
  } else {
    const auto kernel = static_cast<std::size_t>(convolution->kernel);
    const auto inputs = static_cast<std::size_t>(info.src.channels);
    builder.add(info.name + ".weight", {outputs, inputs, kernel, kernel}, Role::weight);
  }
  if (convolution == nullptr || convolution->bias) {
    builder.add(info.name + ".bias", {outputs}, Role::bias);
  }
}

/// The first values of one tensor after the other. A bias takes its weight's bound.
class Initializer {
 public:
  Initializer(std::uint64_t seed, WeightInit weight_init)
      : seed_(seed), first_weights_(weight_init) {}

  void fill(const Segment& segment, std::uint32_t id, std::span<float> values) {
    const RandomStream random(seed_, RngStream::weights, id);
    if (segment.role == Role::norm_scale || segment.role == Role::norm_shift) {
      std::ranges::fill(values, segment.role == Role::norm_scale ? 1.0f : 0.0f);
      return;
    }
    if (segment.role == Role::weight) {
      const std::size_t inputs = values.size() / segment.shape[0];
      bound_ = 1.0f / std::sqrt(static_cast<float>(inputs));
    }
    const bool convolution = segment.shape.size() == 4;
    if (convolution && first_weights_ == WeightInit::kaiming_fan_out) {
      const std::size_t outputs = values.size() / segment.shape[1];
      fill_normal(random, std::sqrt(2.0f / static_cast<float>(outputs)), values);
      return;
    }
    std::uint64_t index = 0;
    for (float& value : values) value = bound_ * (2 * random.uniform(index++) - 1);
    if (convolution && first_weights_ == WeightInit::dirac) {
      fill_identity(segment.shape, values);
    }
  }

 private:
  /// Filter i, for as many as there are inputs, passes the middle pixel of input i
  /// through.
  static void fill_identity(const std::vector<std::size_t>& shape,
                            std::span<float> values) {
    const std::size_t inputs = shape[1], taps = shape[2] * shape[3];
    for (std::size_t i = 0; i < std::min(shape[0], inputs); ++i) {
      const std::span<float> filter = values.subspan(i * inputs * taps, inputs * taps);
      std::ranges::fill(filter, 0.0f);
      filter[i * taps + taps / 2] = 1;
    }
  }

  static void fill_normal(const RandomStream& random, float deviation,
                          std::span<float> values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = deviation * random.normal(i);
    }
  }

  std::uint64_t seed_;
  WeightInit first_weights_;
  float bound_ = 0;
};

}  // namespace

Shape output_shape(const Convolution& layer, Shape src) {
  return {layer.channels,
          positions(src.height, layer.kernel, layer.stride, layer.padding),
          positions(src.width, layer.kernel, layer.stride, layer.padding)};
}

Shape pool_window(const AveragePool& layer, Shape src) {
  if (layer.window == 0) return {1, src.height, src.width};
  return {1, layer.window, layer.window};
}

std::vector<LayerInfo> describe(const Model& model) {
  Describer describer(model.input);
  describer.append(model.layers, kModelInput);
  return std::move(describer.infos);
}

int class_count(const Model& model) {
  return static_cast<int>(describe(model).back().dst.size());
}

Layout build_layout(const Model& model, std::size_t unit_multiple) {
  LayoutBuilder builder(unit_multiple);
  std::size_t units = 0;
  for (const LayerInfo& info : describe(model)) {
    if (info.parameters == 0) continue;
    for (; units <= info.unit; ++units) builder.begin_unit();
    add_parameters(info, builder);
  }
  return std::move(builder).build();
}

Layout build_statistics_layout(const Model& model) {
  LayoutBuilder builder(/*unit_multiple=*/1);
  builder.begin_unit();
  for (const LayerInfo& info : describe(model)) {
    if (!std::holds_alternative<BatchNorm>(info.layer)) continue;
    const auto channels = static_cast<std::size_t>(info.dst.channels);
    builder.add(info.name + ".running_mean", {channels}, Role::mean);
    builder.add(info.name + ".running_var", {channels}, Role::variance);
  }
  return std::move(builder).build();
}

void initialize(const Layout& layout, std::uint64_t seed, FlatBuffer& values,
                WeightInit weight_init) {
  Initializer initializer(seed, weight_init);
  std::uint32_t id = 0;
  for (const Segment& segment : layout.segments()) {
    initializer.fill(segment, id++, values.view(segment.range));
  }
}

void initialize_statistics(const Layout& layout, FlatBuffer& statistics) {
  for (const Segment& segment : layout.segments()) {
    std::ranges::fill(statistics.view(segment.range),
                      segment.role == Role::variance ? 1.0f : 0.0f);
  }
}

}  // namespace convoy
