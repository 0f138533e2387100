// SPDX-License-Identifier: Apache-2.0

#include "convoy/system/bandwidth_probe.h"

#include <algorithm>

#include "convoy/base/aligned.h"
#include "convoy/base/clock.h"
#include "convoy/system/cpu.h"

namespace convoy {
namespace {

constexpr std::size_t kTaskFloats = std::size_t{1} << 16;
constexpr std::size_t kUsualCache = std::size_t{32} << 20;
constexpr std::size_t kLeastBytes = std::size_t{96} << 20;
constexpr std::size_t kMostBytes = std::size_t{384} << 20;

/// Three arrays of equal length, gone through in tasks.
class Triad {
 public:
  explicit Triad(std::size_t bytes)
      : tasks_(bytes / (3 * kTaskFloats * sizeof(float))),
        a_(tasks_ * kTaskFloats),
        b_(tasks_ * kTaskFloats),
        c_(tasks_ * kTaskFloats) {
    // Numbers that were never written would all be read from one page of zeros, and a
    // page that is written for the first time has to be allocated.
    for (const auto& array : {a_.span(), b_.span(), c_.span()}) {
      std::ranges::fill(array, 1.0f);
    }
  }

  std::size_t tasks() const { return tasks_; }
  double bytes() const { return 3.0 * static_cast<double>(a_.size() * sizeof(float)); }

  void run(std::size_t task) {
    const std::size_t first = task * kTaskFloats;
    float* __restrict a = a_.data() + first;
    const float* __restrict b = b_.data() + first;
    const float* __restrict c = c_.data() + first;
    for (std::size_t i = 0; i < kTaskFloats; ++i) a[i] = b[i] + 0.5f * c[i];
  }

 private:
  std::size_t tasks_;
  AlignedBuffer<float> a_, b_, c_;
};

/// Calls `pass` for about as long as `milliseconds`, at least once.
template <class Pass>
double passes_per_second(double milliseconds, const Pass& pass) {
  const Stopwatch watch;
  int passes = 0;
  do {
    pass();
    ++passes;
  } while (watch.seconds() * 1e3 < milliseconds);
  return passes / watch.seconds();
}

}  // namespace

std::size_t bandwidth_probe_bytes(std::size_t cache_bytes) {
  const std::size_t cache = cache_bytes > 0 ? cache_bytes : kUsualCache;
  return std::clamp(4 * cache, kLeastBytes, kMostBytes);
}

Bandwidth probe_bandwidth(ThreadTeam& team, double milliseconds) {
  Triad triad(bandwidth_probe_bytes(last_level_cache_bytes()));
  const double gigabytes = triad.bytes() * 1e-9;
  const auto alone = [&] {
    for (std::size_t task = 0; task < triad.tasks(); ++task) triad.run(task);
  };
  const auto together = [&] {
    team.run(triad.tasks(), [&](std::size_t task, int) { triad.run(task); });
  };
  return {.one_thread = gigabytes * passes_per_second(milliseconds, alone),
          .all_threads = gigabytes * passes_per_second(milliseconds, together)};
}

}  // namespace convoy
