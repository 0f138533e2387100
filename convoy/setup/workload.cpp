// SPDX-License-Identifier: Apache-2.0

#include "convoy/setup/workload.h"

#include <fmt/format.h>

#include <algorithm>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/data/catalog.h"
#include "convoy/models/models.h"
#include "convoy/setup/whitening.h"
#include "convoy/system/cpu.h"

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
    normalization.moments.push_back({settings.mean[c], settings.std.at(c)});
  }
  if (normalization.fits(data.shape)) return normalization;
  throw InputError(InputKind::settings,
                   {.where = "data.mean and data.std",
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

Partition partition_of_microbatches(const Settings& settings) {
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
  work.data = load_data_pair(settings);
  work.samples = split_of(settings, work.data.train);
  work.normalization = choose_normalization(settings.data, work.data.train);
  work.model = make_model(settings.model.name, work.data.train.shape,
                          static_cast<int>(work.data.train.classes.size()));
  work.layout = build_layout(work.model);
  work.statistics_layout = build_statistics_layout(work.model);
  return work;
}

DataPair load_data_pair(const Settings& settings) {
  return load_data(data_options(settings));
}

Split split_of(const Settings& settings, const Dataset& train) {
  return split_samples(train.size(), {.train_fraction = settings.data.train_fraction,
                                      .val_fraction = settings.data.val_fraction,
                                      .seed = settings.train.seed});
}

Parts partition_of(const Settings& settings, const Dataset& train, const Split& samples,
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

Settings repeatable(const Settings& settings, std::size_t microbatches) {
  Settings copy = settings;
  copy.run.name.clear();
  copy.train.resume.clear();
  copy.train.resume_force = false;
  copy.train.microbatches = static_cast<int>(microbatches);
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

NetworkOptions network_options(const Settings& settings, std::size_t most_samples) {
  const std::string& winograd = settings.network.winograd;
  return {.most_samples = most_samples,
          .label_smoothing = static_cast<float>(settings.train.label_smoothing),
          .kernels = settings.network.kernels == "reference" ? &reference_kernels()
                                                             : &fast_kernels(),
          .winograd = winograd == "f4"   ? WinogradMode::f4
                      : winograd == "f2" ? WinogradMode::f2
                                         : WinogradMode::off};
}

EvaluationOptions evaluation_options(const Settings& settings) {
  return {.flip = settings.eval.flip,
          .shift = settings.eval.shift,
          .network = network_options(settings, 0)};
}

int thread_count(const Settings& settings) {
  return settings.cluster.threads > 0 ? settings.cluster.threads : cpu_info().cores;
}

std::size_t microbatch_count(const Settings& settings, int ranks) {
  const int microbatches =
      settings.train.microbatches > 0 ? settings.train.microbatches : ranks;
  if (microbatches < ranks) {
    throw InputError(
        InputKind::settings,
        {.where = "train.microbatches",
         .found = fmt::format("{} micro-batches for {} ranks", microbatches, ranks),
         .expected = "at least a micro-batch for each rank",
         .hint = fmt::format("train.microbatches={}, or no more than {} ranks", ranks,
                             microbatches)});
  }
  if (microbatches > settings.train.batch_size) {
    throw InputError(
        InputKind::settings,
        {.where = "train.batch_size",
         .found = fmt::format("{} samples in {} micro-batches", settings.train.batch_size,
                              microbatches),
         .expected = "at least a sample for each micro-batch",
         .hint = fmt::format("train.batch_size={}, or fewer ranks", microbatches)});
  }
  return static_cast<std::size_t>(microbatches);
}

void check_ranks(const Settings& settings, int ranks) {
  // A worker of ps_async has its own batches, whose micro-batches are its own.
  const bool batch_is_shared = settings.strategy.name != kPsAsync;
  strategy_name(settings, ranks);
  microbatch_count(settings, batch_is_shared ? ranks : 1);
}

bool is_served(const Settings& settings) {
  return settings.strategy.name == kPsSync || settings.strategy.name == kPsAsync;
}

std::size_t samples_of_microbatches(const Settings& settings, const Workload& work,
                                    std::size_t microbatches) {
  if (settings.data.partition == "iid") return work.samples.train.size();
  return partition_of(settings, work.data.train, work.samples,
                      static_cast<int>(microbatches))
      .samples();
}

std::string strategy_name(const Settings& settings, int ranks) {
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

StrategyOptions strategy_options(const Settings& settings) {
  return {.bucket_bytes = static_cast<std::size_t>(settings.ddp.bucket_mb * 1e6)};
}

OptimizerOptions optimizer_options(const Settings& settings, const Layout& layout) {
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

LoaderOptions loader_options(const Settings& settings, const Workload& work,
                             const MicrobatchPart& part) {
  return {.batch_size = static_cast<std::size_t>(settings.train.batch_size),
          .part = part,
          .seed = settings.train.seed,
          .partition = partition_of_microbatches(settings),
          .normalization = work.normalization,
          .augmentation = chosen_augmentation(settings.train.augment)};
}

ScheduleOptions schedule_options(const Settings& settings, std::size_t steps,
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
