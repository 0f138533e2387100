// SPDX-License-Identifier: Apache-2.0
//
// GELU and its gradient, for one instruction set. Included once per target by fast.cpp.

HWY_BEFORE_NAMESPACE();
namespace convoy {
namespace HWY_NAMESPACE {

#include "convoy/network/kernels/math.inc"

void gelu(const float* src, float* dst, std::size_t size) {
  const D d;
  for (std::size_t i = 0; i < size; i += kWidth) {
    hn::StoreU(gelu_of(hn::LoadU(d, src + i)), d, dst + i);
  }
}

void gelu_gradient(const float* src, const float* dst_gradient, float* src_gradient,
                   std::size_t size) {
  const D d;
  for (std::size_t i = 0; i < size; i += kWidth) {
    const V slope = gelu_slope(hn::LoadU(d, src + i));
    hn::StoreU(hn::Mul(slope, hn::LoadU(d, dst_gradient + i)), d, src_gradient + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace convoy
HWY_AFTER_NAMESPACE();
