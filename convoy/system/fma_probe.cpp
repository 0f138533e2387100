// SPDX-License-Identifier: Apache-2.0
//
// Twelve independent accumulators of eight numbers: enough to hide the latency of two FMA
// pipes. The compiler's vector types give each target its own instructions.

#include "convoy/system/fma_probe.h"

#include <atomic>

#include "convoy/base/clock.h"

namespace convoy {
namespace {

using Vector = float __attribute__((vector_size(32)));
constexpr int kAccumulators = 12;
constexpr int kRounds = 4096;
constexpr double kFlopsPerCall = 2.0 * 8 * kAccumulators * kRounds;

// Inlined into one function per target. Different initial values, none of them a fixed
// point, keep the compiler from removing the work.
[[gnu::always_inline]] inline float multiply_add_rounds() {
  const Vector factor = {0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f};
  Vector sums[kAccumulators];
#pragma GCC unroll 12
  for (int i = 0; i < kAccumulators; ++i) sums[i] = factor * static_cast<float>(i + 3);
  for (int round = 0; round < kRounds; ++round) {
#pragma GCC unroll 12
    for (Vector& sum : sums) sum = sum * factor + factor;
  }
  float total = 0;
#pragma GCC unroll 12
  for (const Vector& sum : sums) total += sum[0];
  return total;
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) float rounds_avx2() { return multiply_add_rounds(); }
#endif

float rounds() {
#if defined(__x86_64__)
  static const bool has_fma =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (has_fma) return rounds_avx2();
#endif
  return multiply_add_rounds();
}

}  // namespace

double fma_probe_gflops(ThreadTeam& team, double milliseconds) {
  std::atomic<long> calls{0};
  std::atomic<float> sink{0};
  const Stopwatch watch;
  team.run(static_cast<std::size_t>(team.threads()), [&](std::size_t, int) {
    while (watch.seconds() * 1e3 < milliseconds) {
      sink = rounds();
      ++calls;
    }
  });
  return static_cast<double>(calls) * kFlopsPerCall / watch.seconds() * 1e-9;
}

}  // namespace convoy
