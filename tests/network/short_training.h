// SPDX-License-Identifier: Apache-2.0
//
// Two steps of a model on made-up samples, for tests of where training ends.

#pragma once

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
  int threads = 1;
  std::uint64_t seed = 1;
  KernelSet kernels = best_kernel_set();
};

/// The digest of the weights after two steps.
inline std::string train(const Training& run) {
  const Model model = small_model(run.model);
  const Layout layout = build_layout(model);
  ThreadTeam team(run.threads);
  const Layout statistics_layout = build_statistics_layout(model);
  FlatBuffer values = made_up_values(layout, run.seed);
  FlatBuffer statistics(statistics_layout);
  Network network(
      model, layout,
      {.most_samples = Microbatches::most_samples(run.batch, run.microbatches),
       .kernels = run.kernels},
      team);
  Microbatches microbatches(network, layout, all_microbatches(run.microbatches), team);
  Sgd sgd(layout,
          {.rate = 0.05f, .momentum = 0.9f, .parameters = {.weight_decay = 1e-4f}}, team);
  Single strategy({layout, network.statistics_layout(), values, statistics,
                   microbatches.gradients(), microbatches.batch_stats(), sgd});
  for (std::uint32_t step = 0; step < 2; ++step) {
    const MadeUpBatch batch(model, run.batch, step);
    microbatches.run(batch.samples(), values, {.seed = run.seed, .step = step}, strategy);
    strategy.step();
    microbatches.update_running_stats(run.batch, statistics);
  }
  return weights_sha256(layout, values, statistics_layout, statistics);
}

}  // namespace convoy
