// SPDX-License-Identifier: Apache-2.0

#include "convoy/simulate/compute_times.h"

#include <algorithm>
#include <cmath>

#include "convoy/base/error.h"
#include "convoy/base/text.h"

namespace convoy {
namespace {

constexpr double kPasses = 3;  // forward, and backward as two forwards

double forward_flops(const Model& model) {
  double flops = 0;
  for (const LayerInfo& layer : describe(model)) {
    flops += static_cast<double>(layer.description.flops);
  }
  return flops;
}

}  // namespace

double batch_milliseconds(const Settings& settings, const Model& model) {
  if (const auto given = number_in(settings.sim.compute_ms)) return *given;
  check(settings.sim.compute_ms == "auto", "what is to be measured has been");
  const double flops = kPasses * forward_flops(model) * settings.train.batch_size;
  return flops / (settings.sim.gflops * 1e9) * 1e3;
}

double ComputeTimes::seconds(int worker, std::uint64_t sequence,
                             std::size_t samples) const {
  return sample_ * static_cast<double>(samples) * factor(worker, sequence);
}

/// Returns a random factor with mean one. Lognormal times have a longer tail than
/// gaussian ones, as real ones do.
double ComputeTimes::factor(int worker, std::uint64_t sequence) const {
  if (settings_.compute_kind == ComputeKind::constant) return 1;
  const RandomStream random(seed_, RngStream::compute_time,
                            static_cast<std::uint32_t>(worker));
  const double normal = random.normal(sequence);
  const double sigma = settings_.compute_sigma;
  if (settings_.compute_kind == ComputeKind::gaussian)
    return std::max(0.0, 1 + sigma * normal);
  const double variance = std::log(1 + sigma * sigma);
  return std::exp(std::sqrt(variance) * normal - variance / 2);
}

}  // namespace convoy
