// SPDX-License-Identifier: Apache-2.0

#include "convoy/train/workload.h"

#include <fmt/format.h>

#include <algorithm>

#include "convoy/base/cpu.h"
#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/data/catalog.h"
#include "convoy/network/models.h"

namespace convoy {
namespace {

DataOptions data_options(const Settings& settings) {
  const SyntheticSettings& synthetic = settings.data.synthetic;
  DataOptions options{.name = settings.data.name, .root = settings.data.root};
  options.synthetic.shape = {synthetic.channels, synthetic.height, synthetic.width};
  options.synthetic.classes = synthetic.classes;
  options.synthetic.train_count = synthetic.train_count;
  options.synthetic.test_count = synthetic.test_count;
  options.synthetic.noise = synthetic.noise;
  options.synthetic.seed = settings.train.seed;
  return options;
}

void check_batch_size(const Settings& settings, std::size_t samples) {
  if (static_cast<std::size_t>(settings.train.batch_size) <= samples) return;
  throw InputError(
      InputKind::settings,
      {.where = "train.batch_size",
       .found = std::to_string(settings.train.batch_size),
       .expected = fmt::format("at most {}, the training samples", with_commas(samples)),
       .hint = "use a smaller batch or more data"});
}

}  // namespace

Workload load_workload(const Settings& settings) {
  Workload work;
  work.data = load_data(data_options(settings));
  work.samples = split_samples(work.data.train.size(),
                               {.train_fraction = settings.data.train_fraction,
                                .val_fraction = settings.data.val_fraction,
                                .seed = settings.train.seed});
  work.normalization = measure(work.data.train);
  work.model = make_model(settings.model.name, work.data.train.shape,
                          static_cast<int>(work.data.train.classes.size()));
  work.layout = build_layout(work.model);
  return work;
}

Workload load_training_workload(const Settings& settings) {
  Workload work = load_workload(settings);
  check_batch_size(settings, work.samples.train.size());
  return work;
}

KnownNames known_names() {
  KnownNames names{.models = model_names(),
                   .datasets = {},
                   .optimizers = {"sgd"},
                   .strategies = {"single"}};
  for (const DataSource& source : data_sources()) names.datasets.push_back(source.name);
  return names;
}

NetworkOptions chosen_network(const Settings& settings, std::size_t most_samples) {
  const std::string& winograd = settings.network.winograd;
  return {.most_samples = most_samples,
          .kernels = settings.network.kernels == "reference" ? &reference_kernels()
                                                             : &fast_kernels(),
          .winograd = winograd == "f4"   ? WinogradMode::f4
                      : winograd == "f2" ? WinogradMode::f2
                                         : WinogradMode::off};
}

int chosen_threads(const Settings& settings) {
  return settings.cluster.threads > 0 ? settings.cluster.threads : cpu_info().cores;
}

std::size_t chosen_lanes(const Settings& settings) {
  return static_cast<std::size_t>(std::max(1, settings.train.lanes));
}

SgdOptions chosen_sgd(const Settings& settings) {
  return {.rate = static_cast<float>(settings.optimizer.lr),
          .momentum = static_cast<float>(settings.optimizer.momentum),
          .weight_decay = static_cast<float>(settings.optimizer.weight_decay),
          .nesterov = settings.optimizer.nesterov};
}

}  // namespace convoy
