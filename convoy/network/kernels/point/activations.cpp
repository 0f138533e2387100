// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/kernels/point/activations.h"

#include "convoy/network/kernels/kernels.h"
#include "convoy/network/kernels/reference_arithmetic.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "convoy/network/kernels/point/activations.cpp"
#include "convoy/network/kernels/targets.h"

#ifndef CONVOY_ACTIVATION_KERNELS
#define CONVOY_ACTIVATION_KERNELS(name) \
  {activate<name##_formula>, activate_gradient<name##_formula>},
#endif

#if CONVOY_VECTORS
#include "convoy/network/kernels/arithmetic_inl.h"

HWY_BEFORE_NAMESPACE();
namespace convoy {
namespace HWY_NAMESPACE {

#include "convoy/network/kernels/math.inc"
//
#include "convoy/network/kernels/point/activations.inc"

template <class Formula>
void activate(const Activate& work) {
  const D d;
  const V a = number(work.constants.first), b = number(work.constants.second);
  for (std::size_t i = 0; i < work.size; i += kWidth) {
    hn::StoreU(Formula::value(hn::LoadU(d, work.src + i), a, b), d, work.dst + i);
  }
}

template <class Formula>
void activate_gradient(const ActivateGradient& work) {
  const D d;
  const V a = number(work.constants.first), b = number(work.constants.second);
  for (std::size_t i = 0; i < work.size; i += kWidth) {
    const V slope = Formula::slope(hn::LoadU(d, work.src + i), a, b);
    hn::StoreU(mul(slope, hn::LoadU(d, work.dst_gradient + i)), d, work.src_gradient + i);
  }
}

const ActivationTable kActivations = {CONVOY_ACTIVATIONS(CONVOY_ACTIVATION_KERNELS)};

}  // namespace HWY_NAMESPACE
}  // namespace convoy
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace convoy::reference {
namespace {

#include "convoy/network/kernels/math.inc"
//
#include "convoy/network/kernels/point/activations.inc"

template <class Formula>
void activate(const Activate& work) {
  const auto [a, b] = work.constants;
  for (std::size_t i = 0; i < work.size; ++i) {
    work.dst[i] = Formula::value(work.src[i], a, b);
  }
}

template <class Formula>
void activate_gradient(const ActivateGradient& work) {
  const auto [a, b] = work.constants;
  for (std::size_t i = 0; i < work.size; ++i) {
    work.src_gradient[i] = Formula::slope(work.src[i], a, b) * work.dst_gradient[i];
  }
}

}  // namespace

const ActivationTable kActivations = {CONVOY_ACTIVATIONS(CONVOY_ACTIVATION_KERNELS)};

}  // namespace convoy::reference

CONVOY_KERNELS_OF(ActivationTable, activation_table, kActivations)

namespace convoy {

const ActivationKernels& activation_kernels(KernelSet set, ActivationFunction function) {
  const ActivationTable& table = activation_table(set);
  switch (function) {
#define CONVOY_ACTIVATION_CASE(name) \
  case ActivationFunction::name:     \
    return table.name;
    CONVOY_ACTIVATIONS(CONVOY_ACTIVATION_CASE)
#undef CONVOY_ACTIVATION_CASE
  }
  return table.sigmoid;
}

}  // namespace convoy
#endif
