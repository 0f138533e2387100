// SPDX-License-Identifier: Apache-2.0
//
// Activation functions, PyTorch's definitions, and their slopes. A function is one name
// in the list below and one formula in activations.inc.

#pragma once

#include <cstddef>

#include "convoy/network/kernels/kernel_set.h"

// clang-format off
#define CONVOY_ACTIVATIONS(X) \
  X(sigmoid)                  \
  X(silu)                     \
  X(hard_sigmoid)             \
  X(hard_swish)               \
  X(tanh)                     \
  X(clip)                     \
  X(leaky_relu)               \
  X(gelu)                     \
  X(gelu_tanh)
// clang-format on

namespace convoy {

enum class ActivationFunction {
#define CONVOY_ACTIVATION_NAME(name) name,
  CONVOY_ACTIVATIONS(CONVOY_ACTIVATION_NAME)
#undef CONVOY_ACTIVATION_NAME
};

/// The constants of a function that has some: clip's bounds, leaky_relu's slope.
struct ActivationConstants {
  float first = 0, second = 0;
};

/// dst[i] = function(src[i]). Here and below `size` is a multiple of kPack.
struct Activate {
  const float* src;
  float* dst;
  std::size_t size;
  ActivationConstants constants{};
};

/// src_gradient[i] = dst_gradient[i] * (slope of the function at src[i]).
struct ActivateGradient {
  const float* src;
  const float* dst_gradient;
  float* src_gradient;
  std::size_t size;
  ActivationConstants constants{};
};

struct ActivationKernels {
  void (*value)(const Activate&);
  void (*gradient)(const ActivateGradient&);
};

/// One entry per ActivationFunction.
struct ActivationTable {
#define CONVOY_ACTIVATION_ENTRY(name) ActivationKernels name;
  CONVOY_ACTIVATIONS(CONVOY_ACTIVATION_ENTRY)
#undef CONVOY_ACTIVATION_ENTRY
};

const ActivationTable& activation_table(KernelSet set);

/// The kernels of one function.
const ActivationKernels& activation_kernels(KernelSet set, ActivationFunction function);

}  // namespace convoy
