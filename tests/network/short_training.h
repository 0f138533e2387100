// SPDX-License-Identifier: Apache-2.0
//
// A few steps of a model on made-up samples, for tests of where training ends.

#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "convoy/network/microbatches.h"
#include "convoy/optimizer/sgd.h"
#include "convoy/strategy/single.h"
#include "tests/network/made_up.h"

namespace convoy {

struct Training {
  std::string model;
  std::size_t batch = 17;  // two packs
  std::size_t microbatches = 1;
  std::uint32_t steps = 2;
  int threads = 1;
  std::uint64_t seed = 1;
  KernelSet kernels = best_kernel_set();
  std::size_t recompute_units = 0;
  Dtype activations = Dtype::fp32;
};

/// made_up_values(), kept until another model or seed is asked for: to draw those of a
/// large model takes longer than a step.
class FirstValues {
 public:
  static FlatBuffer of(const Training& run, const Layout& layout) {
    static FirstValues last;
    if (last.model_ != run.model || last.seed_ != run.seed) {
      last.model_ = run.model;
      last.seed_ = run.seed;
      last.values_ = made_up_values(layout, run.seed);
    }
    FlatBuffer values(layout);
    std::copy_n(last.values_->data(), values.size(), values.data());
    return values;
  }

 private:
  std::string model_;
  std::uint64_t seed_ = 0;
  std::optional<FlatBuffer> values_;
};

/// The digest of the weights after the last step.
inline std::string train(const Training& run) {
  const Model model = small_model(run.model);
  const Layout layout = build_layout(model);
  ThreadTeam team(run.threads);
  const Layout statistics_layout = build_statistics_layout(model);
  FlatBuffer values = FirstValues::of(run, layout);
  FlatBuffer statistics(statistics_layout);
  Network network(
      model, layout,
      {.most_samples = Microbatches::most_samples(run.batch, run.microbatches),
       .recompute_units = run.recompute_units,
       .kernels = run.kernels,
       .activations = run.activations},
      team);
  Microbatches microbatches(network, layout, all_microbatches(run.microbatches), team);
  Sgd sgd(layout,
          {.rate = 0.05f, .momentum = 0.9f, .parameters = {.weight_decay = 1e-4f}}, team);
  Single strategy({layout, network.statistics_layout(), values, statistics,
                   microbatches.gradients(), microbatches.batch_stats(), sgd});
  for (std::uint32_t step = 0; step < run.steps; ++step) {
    const MadeUpBatch batch(model, run.batch, step);
    microbatches.run(batch.samples(), values, {.seed = run.seed, .step = step}, strategy);
    strategy.step();
    microbatches.update_running_stats(run.batch, statistics);
  }
  return weights_sha256(layout, values, statistics_layout, statistics);
}

}  // namespace convoy
