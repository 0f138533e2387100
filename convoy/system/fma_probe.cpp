// SPDX-License-Identifier: Apache-2.0
//
// Twelve independent accumulators: enough to hide the latency of two FMA pipes. The
// compiler's vector types give each target its own instructions.

#include "convoy/system/fma_probe.h"

#include <algorithm>
#include <atomic>
#include <initializer_list>
#include <sstream>
#include <string>

#include "convoy/base/clock.h"
#include "convoy/system/cpu.h"

namespace convoy {
namespace {

constexpr int kAccumulators = 12;
constexpr int kRounds = 4096;

template <int kLanes>
struct Lanes {
  using Vector __attribute__((vector_size(kLanes * sizeof(float)))) = float;
};

// Inlined into one function per target. Different initial values, none of them a fixed
// point, keep the compiler from removing the work.
template <int kLanes>
[[gnu::always_inline]] inline float multiply_add_rounds() {
  using Vector = typename Lanes<kLanes>::Vector;
  const Vector factor = Vector{} + 0.5f;
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

/// A function of many multiply-adds, and how many numbers each of them has.
struct Rounds {
  float (*call)();
  int lanes;

  double flops() const { return 2.0 * lanes * kAccumulators * kRounds; }
};

float rounds_plain() { return multiply_add_rounds<4>(); }

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) float rounds_avx2() {
  return multiply_add_rounds<8>();
}
__attribute__((target("avx512f,fma"))) float rounds_avx512() {
  return multiply_add_rounds<16>();
}

Rounds rounds_of(FmaVectors vectors) {
  if (vectors == FmaVectors::avx512) return {rounds_avx512, 16};
  if (vectors == FmaVectors::avx2) return {rounds_avx2, 8};
  return {rounds_plain, 4};
}
#else
Rounds rounds_of(FmaVectors) { return {rounds_plain, 4}; }
#endif

bool has_word(std::string_view text, std::string_view word) {
  std::istringstream words{std::string(text)};
  for (std::string found; words >> found;) {
    if (found == word) return true;
  }
  return false;
}

bool has_all(std::string_view features, std::initializer_list<const char*> names) {
  return std::ranges::all_of(names,
                             [&](const char* name) { return has_word(features, name); });
}

}  // namespace

std::string_view name_of(FmaVectors vectors) {
  if (vectors == FmaVectors::avx512) return "AVX-512";
  return vectors == FmaVectors::avx2 ? "AVX2" : "128-bit";
}

std::vector<FmaVectors> fma_vectors(std::string_view features) {
  std::vector<FmaVectors> found = {FmaVectors::plain};
  if (!has_all(features, {"avx2", "fma"})) return found;
  found.insert(found.begin(), FmaVectors::avx2);
  if (has_all(features, {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})) {
    found.insert(found.begin(), FmaVectors::avx512);
  }
  return found;
}

FmaVectors widest_fma_vectors() {
  static const FmaVectors widest = fma_vectors(cpu_info().features).front();
  return widest;
}

double fma_probe_gflops(ThreadTeam& team, double milliseconds, FmaVectors vectors) {
  const Rounds rounds = rounds_of(vectors);
  std::atomic<long> calls{0};
  std::atomic<float> sink{0};
  const Stopwatch watch;
  team.run(static_cast<std::size_t>(team.threads()), [&](std::size_t, int) {
    while (watch.seconds() * 1e3 < milliseconds) {
      sink = rounds.call();
      ++calls;
    }
  });
  return static_cast<double>(calls) * rounds.flops() / watch.seconds() * 1e-9;
}

}  // namespace convoy
