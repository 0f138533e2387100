// SPDX-License-Identifier: Apache-2.0
//
// Which instruction sets Highway has for our kernels, and what their files read that does
// not depend on the instruction set: this header is precompiled, which is a third of the
// time that a small file of kernels takes.

#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

// The first two have no fused multiply-add, the third has nothing our kernels could use.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#include "hwy/base.h"
#include "hwy/cache_control.h"
#include "hwy/targets.h"

#if HWY_ARCH_X86
#include <immintrin.h>
#endif
