// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/gelu.h"

#include "convoy/network/layers/elementwise.h"

namespace convoy {
namespace {

class GeluKind final : public ElementwiseKind<Gelu, GeluKind> {
 public:
  GeluKind() : ElementwiseKind("gelu", "Gelu") {}

  static ActivationOf function(const Gelu& layer) {
    return {layer.tanh ? ActivationFunction::gelu_tanh : ActivationFunction::gelu};
  }

  std::vector<LayerExample> examples() const override {
    return {{"OfImages", Gelu{}, {{3, 5, 4}}},
            {"OfTokens", Gelu{}, {{7, 1, 1, 5}}},
            {"TanhOfImages", Gelu{.tanh = true}, {{3, 5, 4}}},
            {"TanhOfTokens", Gelu{.tanh = true}, {{7, 1, 1, 5}}}};
  }
};

const Registered<GeluKind> kGelu;

}  // namespace
}  // namespace convoy
