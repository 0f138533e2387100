// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/point/activations.h"

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/network/layers/elementwise.h"

namespace convoy {
namespace {

class SigmoidKind final : public ElementwiseKind<Sigmoid, SigmoidKind> {
 public:
  SigmoidKind() : ElementwiseKind("sigmoid", "Sigmoid") {}
  static ActivationOf function(const Sigmoid&) { return {ActivationFunction::sigmoid}; }
};

class SiluKind final : public ElementwiseKind<Silu, SiluKind> {
 public:
  SiluKind() : ElementwiseKind("silu", "Silu") {}
  static ActivationOf function(const Silu&) { return {ActivationFunction::silu}; }
};

class HardSigmoidKind final : public ElementwiseKind<HardSigmoid, HardSigmoidKind> {
 public:
  HardSigmoidKind() : ElementwiseKind("hard_sigmoid", "HardSigmoid") {}
  static ActivationOf function(const HardSigmoid&) {
    return {ActivationFunction::hard_sigmoid};
  }
};

class HardSwishKind final : public ElementwiseKind<HardSwish, HardSwishKind> {
 public:
  HardSwishKind() : ElementwiseKind("hard_swish", "HardSwish") {}
  static ActivationOf function(const HardSwish&) {
    return {ActivationFunction::hard_swish};
  }
};

class TanhKind final : public ElementwiseKind<Tanh, TanhKind> {
 public:
  TanhKind() : ElementwiseKind("tanh", "Tanh") {}
  static ActivationOf function(const Tanh&) { return {ActivationFunction::tanh}; }
};

class ClipKind final : public ElementwiseKind<Clip, ClipKind> {
 public:
  ClipKind() : ElementwiseKind("clip", "ClipByValue") {}

  static LayerDescription describe_options(const Clip& layer,
                                           const LayerContext& context) {
    if (!(layer.min <= layer.max)) {
      throw InputError(InputKind::settings,
                       {.where = "model: clip",
                        .found = fmt::format("min {}, max {}", layer.min, layer.max),
                        .expected = "min at most max",
                        .hint = ""});
    }
    return {.dst = context.first(),
            .details = {{"min", fmt::format("{}", layer.min)},
                        {"max", fmt::format("{}", layer.max)}}};
  }
  static ActivationOf function(const Clip& layer) {
    return {ActivationFunction::clip, {layer.min, layer.max}};
  }
  std::vector<LayerExample> examples() const override {
    return {{"ReluSix", Clip{}, {{3, 5, 4}}},
            {"OfImages", Clip{-0.5f, 0.25f}, {{3, 5, 4}}},
            {"OfTokens", Clip{-0.5f, 0.25f}, {{7, 1, 1, 5}}}};
  }
};

class LeakyReluKind final : public ElementwiseKind<LeakyRelu, LeakyReluKind> {
 public:
  LeakyReluKind() : ElementwiseKind("leaky_relu", "LeakyRelu") {}
  static ActivationOf function(const LeakyRelu& layer) {
    return {ActivationFunction::leaky_relu, {layer.slope, 0}};
  }
};

const Registered<SigmoidKind> kSigmoid;
const Registered<SiluKind> kSilu;
const Registered<HardSigmoidKind> kHardSigmoid;
const Registered<HardSwishKind> kHardSwish;
const Registered<TanhKind> kTanh;
const Registered<ClipKind> kClip;
const Registered<LeakyReluKind> kLeakyRelu;

}  // namespace
}  // namespace convoy
