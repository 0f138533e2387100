// SPDX-License-Identifier: Apache-2.0

#include "convoy/train/workload.h"

#include <fmt/format.h>

#include <algorithm>

#include "convoy/base/cpu.h"
#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/data/catalog.h"
#include "convoy/network/models.h"
#include "convoy/train/whitening.h"

namespace convoy {
namespace {

constexpr const char* kAutomatic = "auto";

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

/// The numbers of the settings, checked against the images.
Normalization given_normalization(const DataSettings& settings, const Dataset& data) {
  Normalization normalization{.moments = {}};
  for (std::size_t c = 0; c < settings.mean.size(); ++c) {
    normalization.moments.push_back({settings.mean[c], settings.deviation.at(c)});
  }
  if (normalization.fits(data.shape)) return normalization;
  throw InputError(InputKind::settings,
                   {.where = "data.mean and data.deviation",
                    .found = fmt::format("{} numbers", settings.mean.size()),
                    .expected = fmt::format("1 number, or {}, the channels of {}",
                                            data.shape.channels, data.name),
                    .hint = ""});
}

Normalization choose_normalization(const DataSettings& settings, const Dataset& data) {
  if (settings.normalize == "fixed") return given_normalization(settings, data);
  return settings.normalize == "channel" ? measure_channels(data) : measure(data);
}

Augmentation chosen_augmentation(const std::string& name) {
  if (name == "crop_flip") return Augmentation::crop_flip;
  return name == "crop_alternate" ? Augmentation::crop_alternate : Augmentation::none;
}

Partition partition_of_lanes(const Settings& settings) {
  if (settings.strategy.name == "ps_async") return Partition::iid;
  return partition_named(settings.data.partition);
}

Curve chosen_curve(const std::string& name) {
  if (name == "step") return Curve::step;
  if (name == "exponential") return Curve::exponential;
  if (name == "cosine") return Curve::cosine;
  if (name == "linear") return Curve::linear;
  return name == "onecycle" ? Curve::onecycle : Curve::constant;  // as is plateau's
}

/// What is not trained, and so neither updated nor clipped.
std::optional<SegmentId> frozen_segment(const Settings& settings, const Layout& layout) {
  if (!settings.train.whiten) return std::nullopt;
  return first_convolution(layout);
}

/// Adam's beta1 stands where sgd has its momentum.
double chosen_momentum(const OptimizerSettings& optimizer) {
  return optimizer.name == "sgd" ? optimizer.momentum : optimizer.beta1;
}

}  // namespace

Workload load_workload(const Settings& settings) {
  Workload work;
  work.data = chosen_data(settings);
  work.samples = chosen_samples(settings, work.data.train);
  work.normalization = choose_normalization(settings.data, work.data.train);
  work.model = make_model(settings.model.name, work.data.train.shape,
                          static_cast<int>(work.data.train.classes.size()));
  work.layout = build_layout(work.model);
  work.statistics_layout = build_statistics_layout(work.model);
  return work;
}

DataPair chosen_data(const Settings& settings) {
  return load_data(data_options(settings));
}

Split chosen_samples(const Settings& settings, const Dataset& train) {
  return split_samples(train.size(), {.train_fraction = settings.data.train_fraction,
                                      .val_fraction = settings.data.val_fraction,
                                      .seed = settings.train.seed});
}

Parts chosen_parts(const Settings& settings, const Dataset& train, const Split& samples,
                   int workers) {
  return partition_samples(train, samples.train,
                           {.kind = partition_named(settings.data.partition),
                            .parts = static_cast<std::size_t>(workers),
                            .seed = settings.train.seed});
}

Workload load_training_workload(const Settings& settings) {
  Workload work = load_workload(settings);
  check_batch_size(settings, work.samples.train.size());
  return work;
}

Settings repeatable(const Settings& settings, std::size_t lanes) {
  Settings copy = settings;
  copy.run.name.clear();
  copy.train.resume.clear();
  copy.train.resume_force = false;
  copy.train.lanes = static_cast<int>(lanes);
  return copy;
}

KnownNames known_names() {
  KnownNames names{.models = model_names(),
                   .datasets = {},
                   .optimizers = optimizer_names(),
                   .schedules = {"constant", "step", "exponential", "cosine", "linear",
                                 "onecycle", "plateau"},
                   .strategies = {kAutomatic}};
  for (const std::string& name : strategy_names()) names.strategies.push_back(name);
  for (const char* name : {kPsSync, kPsAsync}) names.strategies.emplace_back(name);
  for (const DataSource& source : data_sources()) names.datasets.push_back(source.name);
  return names;
}

NetworkOptions chosen_network(const Settings& settings, std::size_t most_samples) {
  const std::string& winograd = settings.network.winograd;
  return {.most_samples = most_samples,
          .label_smoothing = static_cast<float>(settings.train.label_smoothing),
          .kernels = settings.network.kernels == "reference" ? &reference_kernels()
                                                             : &fast_kernels(),
          .winograd = winograd == "f4"   ? WinogradMode::f4
                      : winograd == "f2" ? WinogradMode::f2
                                         : WinogradMode::off};
}

EvaluationOptions chosen_evaluation(const Settings& settings) {
  return {.flip = settings.eval.flip,
          .shift = settings.eval.shift,
          .network = chosen_network(settings, 0)};
}

int chosen_threads(const Settings& settings) {
  return settings.cluster.threads > 0 ? settings.cluster.threads : cpu_info().cores;
}

std::size_t chosen_lanes(const Settings& settings, int ranks) {
  const int lanes = settings.train.lanes > 0 ? settings.train.lanes : ranks;
  if (lanes < ranks) {
    throw InputError(
        InputKind::settings,
        {.where = "train.lanes",
         .found = fmt::format("{} lanes for {} ranks", lanes, ranks),
         .expected = "at least a lane for each rank",
         .hint = fmt::format("train.lanes={}, or no more than {} ranks", ranks, lanes)});
  }
  if (lanes > settings.train.batch_size) {
    throw InputError(
        InputKind::settings,
        {.where = "train.batch_size",
         .found = fmt::format("{} samples in {} lanes", settings.train.batch_size, lanes),
         .expected = "at least a sample for each lane",
         .hint = fmt::format("train.batch_size={}, or fewer ranks", lanes)});
  }
  return static_cast<std::size_t>(lanes);
}

bool is_served(const Settings& settings) {
  return settings.strategy.name == kPsSync || settings.strategy.name == kPsAsync;
}

std::size_t samples_of_lanes(const Settings& settings, const Workload& work,
                             std::size_t lanes) {
  if (settings.data.partition == "iid") return work.samples.train.size();
  return chosen_parts(settings, work.data.train, work.samples, static_cast<int>(lanes))
      .samples();
}

std::string chosen_strategy(const Settings& settings, int ranks) {
  const std::string& name = settings.strategy.name;
  if (name == kAutomatic) return ranks == 1 ? "single" : "ddp";
  if (is_served(settings)) return name;
  if (ranks == 1 || !is_for_one_rank(name)) return name;
  throw InputError(InputKind::settings,
                   {.where = "strategy.name",
                    .found = fmt::format("{} on {} ranks", name, ranks),
                    .expected = "a strategy for several ranks",
                    .hint = "strategy=ddp, or one rank"});
}

StrategyOptions chosen_strategy_options(const Settings& settings) {
  return {.bucket_bytes = static_cast<std::size_t>(settings.ddp.bucket_mb * 1e6)};
}

Delay chosen_delay(const Settings& settings, int rank, int ranks) {
  if (settings.inject.slow_rank >= ranks) {
    throw InputError(InputKind::settings,
                     {.where = "inject.slow_rank",
                      .found = std::to_string(settings.inject.slow_rank),
                      .expected = fmt::format("below {}, the ranks; -1 for none", ranks),
                      .hint = "ranks are numbered from 0"});
  }
  return {settings.inject, settings.train.seed, rank};
}

OptimizerOptions chosen_optimizer(const Settings& settings, const Layout& layout) {
  const OptimizerSettings& chosen = settings.optimizer;
  return {.nesterov = chosen.nesterov,
          .beta2 = chosen.beta2,
          .eps = chosen.eps,
          .parameters = {.weight_decay = static_cast<float>(chosen.weight_decay),
                         .decay_only_weights = !chosen.decay_norm_and_bias,
                         .bias_rate_factor = static_cast<float>(chosen.bias_lr_scale),
                         .frozen = frozen_segment(settings, layout)}};
}

std::optional<ClipNorm> make_clip(const Settings& settings, const Layout& layout,
                                  ThreadTeam& team) {
  const double longest = settings.optimizer.clip_norm;
  if (longest == 0) return std::nullopt;
  return ClipNorm(layout, {longest, frozen_segment(settings, layout)}, team);
}

LoaderOptions training_loader(const Settings& settings, const Workload& work,
                              const LanePart& part) {
  return {.batch_size = static_cast<std::size_t>(settings.train.batch_size),
          .part = part,
          .seed = settings.train.seed,
          .partition = partition_of_lanes(settings),
          .normalization = work.normalization,
          .augmentation = chosen_augmentation(settings.train.augment)};
}

ScheduleOptions chosen_schedule(const Settings& settings, std::size_t steps,
                                std::size_t steps_in_epoch) {
  const ScheduleSettings& schedule = settings.schedule;
  const double rate = settings.optimizer.lr;
  return {.curve = chosen_curve(schedule.name),
          .rate = rate,
          .momentum = chosen_momentum(settings.optimizer),
          .steps = steps,
          .steps_in_epoch = steps_in_epoch,
          .warmup_epochs = schedule.warmup_epochs,
          .step_epochs = schedule.step_epochs,
          .milestones = schedule.milestones,
          .gamma = schedule.gamma,
          .min_rate = schedule.min_lr,
          .end_factor = schedule.end_factor,
          .one_cycle = {.max_rate = schedule.max_lr > 0 ? schedule.max_lr : rate,
                        .way_up = schedule.pct_start,
                        .div_factor = schedule.div_factor,
                        .final_div_factor = schedule.final_div_factor,
                        .linear = schedule.anneal == "linear",
                        .cycle_momentum = schedule.cycle_momentum,
                        .base_momentum = schedule.base_momentum,
                        .max_momentum = schedule.max_momentum}};
}

}  // namespace convoy
