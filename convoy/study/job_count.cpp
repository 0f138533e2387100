// SPDX-License-Identifier: Apache-2.0

#include "convoy/study/job_count.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/benchmarks/forked_ranks.h"
#include "convoy/benchmarks/step_bench.h"
#include "convoy/job/cores.h"

namespace convoy {
namespace {

constexpr double kSecondsPerMeasurement = 0.5;
// Start, evaluation and files of a run use one core, so that of equals more are better.
constexpr double kGoodEnough = 0.97;

/// Numbers that child processes write and this process reads.
class MeasuredRates {
 public:
  explicit MeasuredRates(std::size_t count) : bytes_(count * sizeof(double)) {
    memory_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                     -1, 0);
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~MeasuredRates() { ::munmap(memory_, bytes_); }
  MeasuredRates(const MeasuredRates&) = delete;
  MeasuredRates& operator=(const MeasuredRates&) = delete;

  double& operator[](std::size_t i) { return static_cast<double*>(memory_)[i]; }

 private:
  std::size_t bytes_;
  void* memory_;
};

/// Steps per second of `jobs` runs together, each on its share of the cores.
double steps_per_second(const Settings& settings, int jobs, const Cores& cores) {
  MeasuredRates rates(static_cast<std::size_t>(jobs));
  run_forked_ranks(jobs, [&](int job) {
    Settings own = settings;
    pin_to(cores_of(job, jobs, cores));
    if (own.cluster.threads == 0) own.cluster.threads = threads_of(job, jobs, cores);
    const StepBenchResult result = bench_step(own, {.seconds = kSecondsPerMeasurement});
    rates[static_cast<std::size_t>(job)] = 1e3 / result.p50_ms;
  });
  double sum = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(jobs); ++i) sum += rates[i];
  return sum;
}

struct Measured {
  int jobs;
  double rate;  // steps per second of all jobs
};

}  // namespace

JobCount measure_job_count(const Settings& settings, std::size_t runs, bool simulated) {
  const Cores cores = usable_cores();
  const int ranks = simulated ? 1 : std::max(1, settings.cluster.nproc_per_node);
  const int most = std::min(static_cast<int>(cores.size()) / ranks,
                            static_cast<int>(std::min<std::size_t>(runs, 1024)));
  if (most < 2) return {.jobs = 1, .reason = "one at a time"};
  std::vector<Measured> measured;
  for (int jobs = 1; jobs <= most;
       jobs = jobs < most ? std::min(2 * jobs, most) : most + 1) {
    measured.push_back({jobs, steps_per_second(settings, jobs, cores)});
  }
  const double best = std::ranges::max_element(measured, {}, &Measured::rate)->rate;
  const Measured chosen = *std::ranges::find_if(
      measured.rbegin(), measured.rend(),
      [&](const Measured& one) { return one.rate >= kGoodEnough * best; });
  return {
      .jobs = chosen.jobs,
      .reason = fmt::format(
          "{} at a time on {} core{}: {:.2f} times the steps per second of one at a "
          "time (measured)",
          chosen.jobs, cores.size() / static_cast<std::size_t>(chosen.jobs),
          cores.size() / static_cast<std::size_t>(chosen.jobs) == 1 ? " each" : "s each",
          chosen.rate / measured.front().rate)};
}

}  // namespace convoy
