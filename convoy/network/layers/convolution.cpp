// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/convolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "convoy/base/error.h"
#include "convoy/network/convolution/convolution_stage.h"
#include "convoy/network/convolution/depthwise_stage.h"
#include "convoy/network/layers/max_pool.h"
#include "convoy/network/layers/relu.h"
#include "convoy/network/pointwise/pointwise_stage.h"
#include "convoy/network/stage_builder.h"
#include "convoy/network/winograd_plan.h"
#include "convoy/network/winograd_stage.h"

namespace convoy {
namespace {

Initialization convolution_init(WeightInit init, std::size_t inputs,
                                std::size_t outputs_of_one_input) {
  const float bound = 1.0f / std::sqrt(static_cast<float>(inputs));
  switch (init) {
    case WeightInit::kaiming_fan_out:
    case WeightInit::mobilenet:
      return Initialization::normal(
          std::sqrt(2.0f / static_cast<float>(outputs_of_one_input)));
    case WeightInit::dirac:
      return {Initialization::Kind::dirac, bound};
    default:
      return Initialization::uniform(bound);
  }
}

Initialization convolution_bias_init(WeightInit init, std::size_t inputs) {
  if (init == WeightInit::mobilenet) return Initialization::zeros();
  return Initialization::uniform(1.0f / std::sqrt(static_cast<float>(inputs)));
}

void refuse_groups(const Convolution& layer, Shape src) {
  const int groups = layer.groups;
  const bool fits = groups >= 1 && src.channels % groups == 0 && layer.channels >= 1 &&
                    layer.channels % groups == 0;
  if (fits) return;
  throw InputError(InputKind::settings,
                   {.where = "model: " + layer.name,
                    .found = fmt::format("{} groups of {} to {} channels", groups,
                                         src.channels, layer.channels),
                    .expected = "groups that divide both numbers of channels",
                    .hint = ""});
}

LayerExample convolution_example(const char* name, Convolution layer, Shape src) {
  layer.name = "conv";
  return {name, layer, {src}};
}

std::vector<LayerExample> window_examples() {
  const auto example = convolution_example;
  return {example("One", {.channels = 5}, {2, 5, 4}),
          example("Three", {.channels = 7, .kernel = 3, .padding = 1}, {3, 6, 5}),
          example("ThreeStrideTwo",
                  {.channels = 6, .kernel = 3, .stride = 2, .padding = 1}, {3, 7, 9}),
          example("Five", {.channels = 5, .kernel = 5, .padding = 2}, {2, 6, 5}),
          example("WithoutBias", {.channels = 4, .kernel = 2, .bias = false}, {3, 6, 5}),
          example("Winograd", {.channels = 17, .kernel = 3, .padding = 1}, {18, 5, 3}),
          example("OnePixel", {.channels = 17, .kernel = 3, .padding = 1}, {18, 1, 1}),
          example("NotSquare",
                  {.channels = 5, .kernel = {2, 5}, .stride = {3, 2}, .padding = {1, 2}},
                  {3, 7, 8}),
          example("PaddedOnTwoSides",
                  {.channels = 17, .kernel = 3, .padding = {0, 0, 2, 1}}, {18, 5, 6}),
          example("Dilated", {.channels = 17, .kernel = 3, .padding = 2, .dilation = 2},
                  {18, 7, 6}),
          example("DilatedByItsStride",
                  {.channels = 4, .kernel = 3, .stride = 2, .padding = 3, .dilation = 2},
                  {3, 8, 9}),
          example("DilatedAcrossItsStride",
                  {.channels = 4,
                   .kernel = {3, 2},
                   .stride = {4, 3},
                   .padding = {2, 1, 3, 0},
                   .dilation = {6, 2}},
                  {2, 15, 9})};
}

std::vector<LayerExample> group_examples() {
  const auto example = convolution_example;
  return {
      example("Grouped", {.channels = 10, .kernel = 3, .padding = 1, .groups = 2},
              {6, 5, 4}),
      example("GroupedStrideTwo",
              {.channels = 18,
               .kernel = 3,
               .stride = 2,
               .padding = 1,
               .bias = false,
               .groups = 3},
              {6, 7, 5}),
      example("Depthwise", {.channels = 5, .kernel = 3, .padding = 1, .groups = 5},
              {5, 6, 7}),
      example("DepthwiseStrideTwo",
              {.channels = 4,
               .kernel = 3,
               .stride = 2,
               .padding = 1,
               .bias = false,
               .groups = 4},
              {4, 9, 8}),
      example("DepthwiseByThree", {.channels = 6, .kernel = 3, .groups = 2}, {2, 5, 4}),
      example("DepthwiseOfFive", {.channels = 3, .kernel = 5, .padding = 2, .groups = 3},
              {3, 4, 7}),
      example("DepthwiseOfAnyWindow",
              {.channels = 4,
               .kernel = {2, 4},
               .stride = {1, 3},
               .padding = {2, 0, 1, 3},
               .groups = 2,
               .dilation = {3, 2}},
              {2, 6, 9}),
      example("DepthwiseOnePixel",
              {.channels = 3, .kernel = 3, .padding = 1, .groups = 3}, {3, 1, 1})};
}

class ConvolutionKind final : public KindOf<Convolution, ConvolutionKind> {
 public:
  ConvolutionKind()
      : KindOf({.name = "convolution", .operation = "Conv2D", .begins_unit = true}) {}

  static LayerDescription describe_options(const Convolution& layer,
                                           const LayerContext& context) {
    const Shape src = context.first();
    refuse_groups(layer, src);
    refuse_window(layer.name, src, layer.window());
    const auto high = static_cast<std::size_t>(layer.kernel.height);
    const auto wide = static_cast<std::size_t>(layer.kernel.width);
    const auto inputs = static_cast<std::size_t>(src.channels / layer.groups);
    const auto outputs = static_cast<std::size_t>(layer.channels);
    const std::size_t taps = inputs * high * wide;
    LayerDescription result{.dst = output_shape(layer, src)};
    result.parameters.push_back(
        {layer.name + ".weight",
         {outputs, inputs, high, wide},
         Role::weight,
         convolution_init(context.weight_init, taps, outputs * high * wide)});
    if (layer.bias) {
      result.parameters.push_back({layer.name + ".bias",
                                   {outputs},
                                   Role::bias,
                                   convolution_bias_init(context.weight_init, taps)});
    }
    result.flops = 2 * taps * result.dst.size();
    if (const auto form = choose_form(context.winograd, layer, src)) {
      result.real_flops = 2 * static_cast<std::uint64_t>(src.channels) * layer.channels *
                          multiplications(*form, result.dst);
    }
    result.details = window_details(layer.window());
    if (layer.groups > 1) result.details["groups"] = std::to_string(layer.groups);
    return result;
  }

  /// A ReLU; and, if the convolution is a direct one, a max pool after it.
  bool joins(const StageSpec& stage, const LayerInfo& next) const override {
    if (stage.options<Convolution>().is_depthwise(stage.src[0])) return false;
    const bool has_pool = stage.joined<MaxPool>() != nullptr;
    if (next.layer.get_if<Relu>() != nullptr) {
      return stage.joined<Relu>() == nullptr && !has_pool;
    }
    const auto* pool = next.layer.get_if<MaxPool>();
    return pool != nullptr && pool->is_plain() && !has_pool &&
           !choose_form(stage.winograd, stage.options<Convolution>(), stage.src[0]);
  }

  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext& context) const override {
    const auto& layer = spec.options<Convolution>();
    if (layer.is_depthwise(spec.src[0])) {
      return std::make_unique<DepthwiseStage>(context, layer, spec.src[0]);
    }
    const bool relu = spec.joined<Relu>() != nullptr;
    const auto* pool = spec.joined<MaxPool>();
    if (const auto form = choose_form(spec.winograd, layer, spec.src[0])) {
      if (form == WinogradForm::p1 && !relu &&
          PointwiseStage::fits(context, layer, spec.src[0])) {
        return std::make_unique<PointwiseStage>(context, layer, spec.src[0]);
      }
      return std::make_unique<WinogradStage>(context, WinogradOptions{layer, *form, relu},
                                             spec.src[0]);
    }
    return std::make_unique<ConvolutionStage>(
        context,
        ConvolutionOptions{layer, relu, pool == nullptr ? 0 : pool->window.height},
        spec.src[0]);
  }

  std::vector<LayerExample> examples() const override {
    std::vector<LayerExample> all = window_examples();
    std::ranges::move(group_examples(), std::back_inserter(all));
    return all;
  }
};

const Registered<ConvolutionKind> kConvolution;

}  // namespace

Shape output_shape(const Convolution& layer, Shape src) {
  const Extent positions = layer.window().positions(src);
  return {layer.channels, positions.height, positions.width, src.rows};
}

}  // namespace convoy
