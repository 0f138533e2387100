// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/linear.h"

#include <cmath>

#include "convoy/network/layers/linear_stage.h"
#include "convoy/network/layers/relu.h"
#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

struct LinearInit {
  Initialization weight, bias;
};

LinearInit linear_init(const Linear& layer, WeightInit init, std::size_t inputs) {
  const auto normal = [](float deviation) {
    return LinearInit{Initialization::normal(deviation), Initialization::zeros()};
  };
  if (init == WeightInit::timm && layer.kernel.empty()) return normal(0.02f);
  if (init == WeightInit::mobilenet) return normal(0.01f);
  const auto uniform =
      Initialization::uniform(1.0f / std::sqrt(static_cast<float>(inputs)));
  return {uniform, uniform};
}

class LinearKind final : public KindOf<Linear, LinearKind> {
 public:
  LinearKind()
      : KindOf({.name = "linear",
                .operation = "MatMul",
                .begins_unit = true,
                .flattens = true}) {}

  static std::vector<std::size_t> weight_shape(const Linear& layer, std::size_t inputs) {
    std::vector<std::size_t> shape = {static_cast<std::size_t>(layer.features)};
    if (layer.kernel.empty()) shape.push_back(inputs);
    shape.insert(shape.end(), layer.kernel.begin(), layer.kernel.end());
    return shape;
  }

  static LayerDescription describe_options(const Linear& layer,
                                           const LayerContext& context) {
    const Shape src = context.first();
    const std::size_t inputs = src.features();
    const auto outputs = static_cast<std::size_t>(layer.features);
    const LinearInit init = linear_init(layer, context.weight_init, inputs);
    LayerDescription result{.dst = {layer.features, 1, 1, src.rows}};
    result.parameters.push_back(
        {layer.name + ".weight", weight_shape(layer, inputs), Role::weight, init.weight});
    if (layer.bias) {
      result.parameters.push_back(
          {layer.name + ".bias", {outputs}, Role::bias, init.bias});
    }
    result.flops = 2 * inputs * outputs * static_cast<std::size_t>(src.rows);
    return result;
  }
  bool joins(const StageSpec& stage, const LayerInfo& next) const override {
    return stage.joined<Relu>() == nullptr && next.layer.get_if<Relu>() != nullptr;
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext& context) const override {
    return make_linear_stage(context, spec.options<Linear>(), spec.src[0],
                             spec.joined<Relu>() != nullptr);
  }
  std::vector<LayerExample> examples() const override {
    return {{"OfFeatures", Linear{"fc", 7}, {{5, 1, 1}}},
            {"OfImages", Linear{"fc", 13}, {{2, 3, 3}}},
            {"OfTokens", Linear{"fc", 19}, {{23, 1, 1, 5}}},
            {"WithoutBias", Linear{"fc", 6, false}, {{9, 1, 1, 3}}},
            {"OfPatches", Linear{"fc", 6, true, {3, 2, 2}}, {{12, 1, 1, 3}}},
            {"WiderThanOneStretch", Linear{"fc", 5}, {{1, 17, 17}}}};
  }
};

const Registered<LinearKind> kLinear;

}  // namespace
}  // namespace convoy
