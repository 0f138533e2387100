// SPDX-License-Identifier: Apache-2.0
//
// CONVOY_WITH_AVX2: compiles a function of integers twice, also for AVX2, and uses what
// the processor has. Integers have the same results either way.

#pragma once

// A sanitizer's code cannot run as early as the version is chosen.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CONVOY_WITH_AVX2 __attribute__((target_clones("default", "avx2")))
#else
#define CONVOY_WITH_AVX2
#endif
