// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/gelu.h"

#include "convoy/network/layers/elementwise.h"

namespace convoy {
namespace {

/// Both forms.
struct GeluFunction {
  bool tanh;

  void value(const Kernels& kernels, const float* src, float* dst,
             std::size_t size) const {
    if (tanh) return kApproximation.value(kernels, src, dst, size);
    kernels.gelu(src, dst, size);
  }
  void gradient(const Kernels& kernels, const float* src, const float* dst_gradient,
                float* src_gradient, std::size_t size) const {
    if (tanh) {
      kApproximation.gradient(kernels, src, dst_gradient, src_gradient, size);
    } else {
      kernels.gelu_gradient(src, dst_gradient, src_gradient, size);
    }
  }

 private:
  static constexpr ActivationOf kApproximation{ActivationFunction::gelu_tanh};
};

class GeluKind final : public ElementwiseKind<Gelu, GeluKind> {
 public:
  GeluKind() : ElementwiseKind("gelu", "Gelu") {}

  static GeluFunction function(const Gelu& layer) { return {layer.tanh}; }

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
