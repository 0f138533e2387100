// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/kernels/point/local_response.h"

#include <algorithm>

#include "convoy/network/kernels/kernels.h"
#include "convoy/network/kernels/reference_arithmetic.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "convoy/network/kernels/point/local_response.cpp"
#include "convoy/network/kernels/targets.h"

#if CONVOY_VECTORS
#include "convoy/network/kernels/arithmetic_inl.h"

HWY_BEFORE_NAMESPACE();
namespace convoy {
namespace HWY_NAMESPACE {

constexpr std::size_t kStep = kWidth;
HWY_INLINE V load(const float* from) { return hn::LoadU(D(), from); }
HWY_INLINE void store(V value, float* to) { hn::StoreU(value, D(), to); }
HWY_INLINE Bits from_exponent(Bits bits) { return hn::ShiftRight<23>(bits); }
HWY_INLINE V to_number(Bits whole) { return hn::ConvertTo(D(), whole); }

#include "convoy/network/kernels/math.inc"
//
#include "convoy/network/kernels/point/power.inc"
//
#include "convoy/network/kernels/point/local_response.inc"

const LocalResponseKernels kLocalResponse = {normalize_response, response_gradient};

}  // namespace HWY_NAMESPACE
}  // namespace convoy
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace convoy::reference {
namespace {

constexpr std::size_t kStep = 1;
float load(const float* from) { return *from; }
void store(float value, float* to) { *to = value; }
Bits from_exponent(Bits bits) { return bits >> 23; }
float to_number(Bits whole) { return static_cast<float>(whole); }

#include "convoy/network/kernels/math.inc"
//
#include "convoy/network/kernels/point/power.inc"
//
#include "convoy/network/kernels/point/local_response.inc"

}  // namespace

const LocalResponseKernels kLocalResponse = {normalize_response, response_gradient};

}  // namespace convoy::reference

CONVOY_KERNELS_OF(LocalResponseKernels, local_response_kernels, kLocalResponse)
#endif
