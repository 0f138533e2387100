// SPDX-License-Identifier: Apache-2.0
//
// What a file of fast kernels begins with. Such a file is compiled by Highway once per
// instruction set that has fused multiply-add:
//
//   #undef HWY_TARGET_INCLUDE
//   #define HWY_TARGET_INCLUDE "convoy/network/kernels/softmax.cpp"   // itself
//   #include "convoy/network/kernels/targets.h"
//
//   #if CONVOY_VECTORS
//   #include "convoy/network/kernels/arithmetic_inl.h"
//   HWY_BEFORE_NAMESPACE();
//   namespace convoy::HWY_NAMESPACE { ...; const SoftmaxKernels kSoftmax = {...}; }
//   HWY_AFTER_NAMESPACE();
//   #endif
//
//   #if HWY_ONCE
//   namespace convoy::reference { ...; const SoftmaxKernels kSoftmax = {...}; }
//   CONVOY_KERNELS_OF(SoftmaxKernels, softmax_kernels, kSoftmax)
//   #endif
//
// It is included anew for every instruction set, so it has no guard.

#include "convoy/network/kernels/instruction_sets.h"
// This comes before highway.h.
#include "hwy/foreach_target.h"
//
#include "hwy/highway.h"

// Highway always compiles for the plainest machine that the compiler may assume as well:
// there the reference is used instead.
#undef CONVOY_VECTORS
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_NEON
#define CONVOY_VECTORS 1
#else
#define CONVOY_VECTORS 0
#endif

#ifndef CONVOY_KERNELS_OF

#if HWY_TARGETS & HWY_AVX3
#define CONVOY_AVX512_KERNELS(table) \
  case KernelSet::avx512:            \
  case KernelSet::avx512_bf16:       \
  case KernelSet::avx512_amx:        \
    return N_AVX3::table;
#else
#define CONVOY_AVX512_KERNELS(table)
#endif
#if HWY_TARGETS & HWY_AVX2
#define CONVOY_AVX2_KERNELS(table) \
  case KernelSet::avx2:            \
    return N_AVX2::table;
#else
#define CONVOY_AVX2_KERNELS(table)
#endif
#if HWY_TARGETS & HWY_NEON
#define CONVOY_NEON_KERNELS(table) \
  case KernelSet::neon:            \
    return N_NEON::table;
#else
#define CONVOY_NEON_KERNELS(table)
#endif

/// Defines function(set), which gives the table of a kernel set.
#define CONVOY_KERNELS_OF(Table, function, table) \
  namespace convoy {                              \
  const Table& function(KernelSet set) {          \
    switch (set) {                                \
      CONVOY_AVX512_KERNELS(table)                \
      CONVOY_AVX2_KERNELS(table)                  \
      CONVOY_NEON_KERNELS(table)                  \
      default:                                    \
        return reference::table;                  \
    }                                             \
  }                                               \
  }

#endif
