// SPDX-License-Identifier: Apache-2.0
//
// GELU, x times the normal distribution up to x, and its gradient. Included once for each
// instruction set, by fast.cpp.
//
// The distribution's tail is a polynomial times the density (Abramowitz and Stegun,
// 7.1.26: wrong by less than 1e-7), so that one exponential gives both it and the slope.

HWY_BEFORE_NAMESPACE();
namespace convoy {
namespace HWY_NAMESPACE {

/// Of the normal distribution at x.
struct Normal {
  V up_to;   // its integral up to x
  V kernel;  // its density without the factor 1 / sqrt(2 pi)
};

HWY_INLINE Normal normal_at(V x) {
  const D d;
  const auto constant = [d](float value) HWY_ATTR { return hn::Set(d, value); };
  const V kernel = hn::Exp(d, hn::Mul(hn::Mul(constant(-0.5f), x), x));
  // 0.3275911 / sqrt(2): what is said of the error function there is said of x here.
  const V t =
      hn::Div(constant(1), hn::MulAdd(constant(0.23164189f), hn::Abs(x), constant(1)));
  V tail = constant(0.5f * 1.061405429f);
  for (const float next : {-1.453152027f, 1.421413741f, -0.284496736f, 0.254829592f}) {
    tail = hn::MulAdd(tail, t, constant(0.5f * next));
  }
  tail = hn::Mul(hn::Mul(tail, t), kernel);
  return {hn::IfThenElse(hn::Gt(x, hn::Zero(d)), hn::Sub(constant(1), tail), tail),
          kernel};
}

void gelu(const float* src, float* dst, std::size_t size) {
  const D d;
  for (std::size_t i = 0; i < size; i += kWidth) {
    const V x = hn::LoadU(d, src + i);
    hn::StoreU(hn::Mul(x, normal_at(x).up_to), d, dst + i);
  }
}

void gelu_gradient(const float* src, const float* dst_gradient, float* src_gradient,
                   std::size_t size) {
  const D d;
  const V factor = hn::Set(d, 0.39894228f);  // 1 / sqrt(2 pi)
  for (std::size_t i = 0; i < size; i += kWidth) {
    const V x = hn::LoadU(d, src + i);
    const Normal normal = normal_at(x);
    const V slope = hn::MulAdd(hn::Mul(x, factor), normal.kernel, normal.up_to);
    hn::StoreU(hn::Mul(slope, hn::LoadU(d, dst_gradient + i)), d, src_gradient + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace convoy
HWY_AFTER_NAMESPACE();
