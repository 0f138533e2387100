// SPDX-License-Identifier: Apache-2.0

#include "convoy/setup/workload.h"

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/data/catalog.h"
#include "convoy/models/models.h"
#include "convoy/setup/parameter_patterns.h"
#include "convoy/setup/precision.h"
#include "convoy/system/cpu.h"

namespace convoy {
namespace {

void check_batch_size(const Settings& settings, std::size_t samples) {
  if (static_cast<std::size_t>(settings.train.batch_size) <= samples) return;
  throw InputError(
      InputKind::settings,
      {.where = "train.batch_size",
       .found = std::to_string(settings.train.batch_size),
       .expected = fmt::format("at most {}, the training samples", with_commas(samples)),
       .hint = "use a smaller batch or more data"});
}

Partition partition_of_microbatches(const Settings& settings) {
  if (settings.strategy.name == StrategyChoice::ps_async) return Partition::iid;
  return partition_kind(settings.data.partition);
}

Curve curve_of(ScheduleChoice choice) {
  switch (choice) {
    case ScheduleChoice::step:
      return Curve::step;
    case ScheduleChoice::exponential:
      return Curve::exponential;
    case ScheduleChoice::cosine:
      return Curve::cosine;
    case ScheduleChoice::linear:
      return Curve::linear;
    case ScheduleChoice::onecycle:
      return Curve::onecycle;
    case ScheduleChoice::constant:
    // Constant, multiplied by the factor that evaluations decide.
    case ScheduleChoice::plateau:
      break;
  }
  return Curve::constant;
}

WinogradMode winograd_mode(WinogradChoice choice) {
  switch (choice) {
    case WinogradChoice::f4:
      return WinogradMode::f4;
    case WinogradChoice::f2:
      return WinogradMode::f2;
    case WinogradChoice::off:
      break;
  }
  return WinogradMode::off;
}

Products products_of(KernelsChoice choice) {
  switch (choice) {
    case KernelsChoice::avx512_plus_bf16:
    case KernelsChoice::reference_plus_bf16:
      return Products::bf16_dot;
    case KernelsChoice::avx512_plus_amx:
    case KernelsChoice::reference_plus_amx:
      return Products::bf16_amx;
    default:
      return Products::fp32;
  }
}

/// Throws InputError if products are of bf16 and the run's numbers are not.
void check_kernels_precision(const Settings& settings) {
  if (products_of(settings.network.kernels) == Products::fp32) return;
  if (settings.precision.name == PrecisionChoice::bf16) return;
  throw InputError(
      InputKind::settings,
      {.where = "network.kernels",
       .found = fmt::format("{} with precision={}", choice_name(settings.network.kernels),
                            choice_name(settings.precision.name)),
       .expected = "precision=bf16: its products are of bf16 numbers",
       .hint = "precision=bf16, or network.kernels=auto"});
}

InputError unavailable(KernelsChoice choice) {
  const std::vector<KernelSet> sets = available_kernel_sets();
  const Products products = products_of(choice);
  return {InputKind::settings,
          {.where = "network.kernels",
           .found =
               fmt::format("{}, which this processor does not have", choice_name(choice)),
           .expected = fmt::format("auto or one of {}: this processor has {}",
                                   names_of(sets), name_of(sets.front())),
           .hint = products == Products::fp32
                       ? "network.kernels=auto: all kernels end at the same bits"
                       : fmt::format(
                             "network.kernels=auto; {} has the bits of {} and is slow",
                             name_of(available_kernel_sets(products).back()),
                             choice_name(choice))}};
}

/// Adam's beta1 takes the place of sgd's momentum.
double initial_momentum(const OptimizerSettings& optimizer) {
  return optimizer.name == OptimizerChoice::sgd ? optimizer.momentum : optimizer.beta1;
}

}  // namespace

Workload load_workload(const Settings& settings) {
  Workload work;
  work.data = load_data_pair(settings);
  work.samples = split_of(settings, work.data.train);
  work.normalization = choose_normalization(settings.data, work.data.train);
  static_cast<LaidOutModel&>(work) =
      lay_out(make_model(settings.model.name, input_shape(settings, work.data.train),
                         static_cast<int>(work.data.train.classes.size())));
  freeze_parameters(settings.train, work);
  return work;
}

EvaluationSet evaluation_set(const Workload& work, std::string_view split) {
  EvaluationSet set =
      all_of(split == "test" ? work.data.test : work.data.train, work.normalization);
  if (split == "train") set.samples = work.samples.train;
  if (split == "val") set.samples = work.samples.validation;
  set.image = work.model.input;
  return set;
}

SampleImages training_images(const Workload& work) {
  return {work.data.train, work.normalization, work.model.input};
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
  copy.train.stop_epoch = 0;
  copy.train.microbatches = static_cast<int>(microbatches);
  return copy;
}

KnownNames known_names() {
  KnownNames names{.models = model_names(), .datasets = {}};
  for (const DataSource& source : data_sources()) names.datasets.push_back(source.name);
  return names;
}

KernelSet kernel_set(const Settings& settings) {
  check_kernels_precision(settings);
  if (settings.network.kernels == KernelsChoice::auto_) return best_kernel_set();
  for (const KernelSet set :
       available_kernel_sets(products_of(settings.network.kernels))) {
    if (choice_name(settings.network.kernels) == name_of(set)) return set;
  }
  throw unavailable(settings.network.kernels);
}

NetworkOptions network_options(const Settings& settings, std::size_t most_samples) {
  return {.most_samples = most_samples,
          .label_smoothing = static_cast<float>(settings.train.label_smoothing),
          .recompute_units =
              settings.train.recompute == RecomputeChoice::units ? kAllUnits : 0,
          .kernels = kernel_set(settings),
          .winograd = winograd_mode(settings.network.winograd),
          .activations = value_dtype(settings)};
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
         .expected = "at least one micro-batch per rank",
         .hint = fmt::format("train.microbatches={}, or no more than {} ranks", ranks,
                             microbatches)});
  }
  if (microbatches > settings.train.batch_size) {
    throw InputError(
        InputKind::settings,
        {.where = "train.batch_size",
         .found = fmt::format("{} samples in {} micro-batches", settings.train.batch_size,
                              microbatches),
         .expected = "at least one sample per micro-batch",
         .hint = fmt::format("train.batch_size={}, or fewer ranks", microbatches)});
  }
  return static_cast<std::size_t>(microbatches);
}

void check_ranks(const Settings& settings, int ranks) {
  // A worker of ps_async has its own batches and computes all of their micro-batches.
  const bool batch_is_shared = settings.strategy.name != StrategyChoice::ps_async;
  strategy_name(settings, ranks);
  if (settings.train.batch_size == 0) return;  // the largest has one sample for each
  microbatch_count(settings, batch_is_shared ? ranks : 1);
}

bool is_served(const Settings& settings) {
  return settings.strategy.name == StrategyChoice::ps_sync ||
         settings.strategy.name == StrategyChoice::ps_async;
}

std::size_t samples_of_microbatches(const Settings& settings, const Workload& work,
                                    std::size_t microbatches) {
  if (settings.data.partition == PartitionChoice::iid) return work.samples.train.size();
  return partition_of(settings, work.data.train, work.samples,
                      static_cast<int>(microbatches))
      .samples();
}

std::string strategy_name(const Settings& settings, int ranks) {
  const std::string& name = choice_name(settings.strategy.name);
  if (settings.strategy.name == StrategyChoice::auto_)
    return ranks == 1 ? "single" : "ddp";
  if (is_served(settings)) return name;
  if (ranks == 1 || !is_for_one_rank(name)) return name;
  throw InputError(InputKind::settings,
                   {.where = "strategy.name",
                    .found = fmt::format("{} on {} ranks", name, ranks),
                    .expected = "a strategy for several ranks",
                    .hint = "strategy=ddp, or one rank"});
}

FsdpShard shard_of(ShardChoice choice) {
  switch (choice) {
    case ShardChoice::optimizer:
      return FsdpShard::optimizer;
    case ShardChoice::gradients:
      return FsdpShard::gradients;
    case ShardChoice::all:
      break;
  }
  return FsdpShard::all;
}

StrategyOptions strategy_options(const Settings& settings) {
  return {.bucket_bytes = static_cast<std::size_t>(settings.ddp.bucket_mb * 1e6),
          .fsdp = {.shard = shard_of(settings.fsdp.shard),
                   .reshard_after_forward = settings.fsdp.reshard_after_forward,
                   .prefetch = settings.fsdp.prefetch}};
}

OptimizerOptions optimizer_options(const Settings& settings, const Layout& layout) {
  const OptimizerSettings& chosen = settings.optimizer;
  return {.nesterov = chosen.nesterov,
          .beta2 = chosen.beta2,
          .eps = chosen.eps,
          .parameters = {.weight_decay = static_cast<float>(chosen.weight_decay),
                         .decay_only_weights = !chosen.decay_norm_and_bias,
                         .bias_rate_factor = static_cast<float>(chosen.bias_lr_scale),
                         .rules = segment_rules(chosen, layout)}};
}

RigOptions rig_options(const Settings& settings, const Layout& layout) {
  UpdateRuleOptions update{.optimizer = choice_name(settings.optimizer.name),
                           .parameters = optimizer_options(settings, layout),
                           .values = value_dtype(settings),
                           .loss_scale = loss_scale_options(settings)};
  if (settings.optimizer.clip_norm > 0) {
    update.clip = {settings.optimizer.clip_norm};
  }
  return {.threads = thread_count(settings), .update = update};
}

PassOptions pass_options(const Settings& settings, const MicrobatchPart& part) {
  return {.batch_size = static_cast<std::size_t>(settings.train.batch_size),
          .part = part,
          .network = network_options(settings, /*most_samples=*/0),
          .gradients = gradient_dtype(settings)};
}

LoaderOptions loader_options(const Settings& settings, const Workload& work,
                             const MicrobatchPart& part) {
  return {.batch_size = static_cast<std::size_t>(settings.train.batch_size),
          .part = part,
          .seed = settings.train.seed,
          .partition = partition_of_microbatches(settings),
          .normalization = work.normalization,
          .image = work.model.input,
          .augmentation = augmentation_of(settings.train.augment),
          .transforms = transform_options(settings.train),
          .threads = settings.data.workers};
}

ScheduleOptions schedule_options(const Settings& settings, std::size_t steps,
                                 std::size_t steps_in_epoch) {
  const ScheduleSettings& schedule = settings.schedule;
  const double rate = settings.optimizer.lr;
  return {.curve = curve_of(schedule.name),
          .rate = rate,
          .momentum = initial_momentum(settings.optimizer),
          .steps = steps,
          .steps_in_epoch = steps_in_epoch,
          .warmup_epochs = schedule.warmup_epochs,
          .step_epochs = schedule.step_epochs,
          .milestones = schedule.milestones,
          .gamma = schedule.gamma,
          .min_rate = schedule.min_lr,
          .end_factor = schedule.end_factor,
          .one_cycle = {.max_rate = schedule.max_lr > 0 ? schedule.max_lr : rate,
                        .pct_start = schedule.pct_start,
                        .div_factor = schedule.div_factor,
                        .final_div_factor = schedule.final_div_factor,
                        .linear = schedule.anneal == AnnealChoice::linear,
                        .cycle_momentum = schedule.cycle_momentum,
                        .base_momentum = schedule.base_momentum,
                        .max_momentum = schedule.max_momentum}};
}

}  // namespace convoy
