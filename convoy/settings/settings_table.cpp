// SPDX-License-Identifier: Apache-2.0

#include "convoy/settings/settings_table.h"

#include <algorithm>

namespace convoy {
namespace {

// Numbers that the network takes as fp32 must not become infinite on the way.
constexpr double kLargest = 1e38;

Bounds from(double low) { return {.low = low}; }
Bounds from_to(double low, double high) { return {.low = low, .high = high}; }
Bounds from_below(double low, double high) {
  return {.low = low, .high = high, .high_open = true};
}
Bounds above_to(double low, double high) {
  return {.low = low, .high = high, .low_open = true};
}

constexpr std::monostate kAny;

// The name and the place of a setting, so that they cannot disagree.
#define PLACE(member) #member, [](Settings & s) -> Field { return &s.member; }

const std::vector<Setting>& table() {
  // clang-format off
  static const std::vector<Setting> rows = {
      {PLACE(model.name), &KnownNames::models, "the network"},
      {PLACE(model.init), kAny, "safetensors file with weights to start from; empty: random ones"},
      {PLACE(data.name), &KnownNames::datasets, "the dataset"},
      {PLACE(data.root), kAny, "folder of the dataset's files; empty: the usual places are searched"},
      {PLACE(data.train_fraction), above_to(0, 1), "part of the training set that is used"},
      {PLACE(data.val_fraction), from_below(0, 1), "part of the training set held out for validation"},
      {PLACE(data.partition), Choices{"iid", "shared", "labels", "labels_unscaled"}, "what of the training set a worker (ps_async) or a micro-batch goes through: a random part, all of it, or all samples of some labels, cut to equal length or not"},
      {PLACE(data.normalize), Choices{"all", "channel", "fixed"}, "mean and deviation of pixels: measured over all, by channel, or given"},
      {PLACE(data.mean), from_to(0, 1), "given means, one for all channels or one for each, of pixels from 0 to 1"},
      {PLACE(data.std), above_to(0, 1), "given deviations, as many as means", "data.deviation"},
      {PLACE(data.synthetic.channels), from_to(1, 1024), "channels of an image of data=synthetic"},
      {PLACE(data.synthetic.height), from_to(1, 4096), "height of its images"},
      {PLACE(data.synthetic.width), from_to(1, 4096), "width of its images"},
      {PLACE(data.synthetic.classes), from_to(2, 256), "how many classes it has"},
      {PLACE(data.synthetic.train_count), from_to(1, 100'000'000), "samples of its training set"},
      {PLACE(data.synthetic.test_count), from_to(1, 100'000'000), "samples of its test set"},
      {PLACE(data.synthetic.noise), from_to(0, 4), "deviation of its pixels, 1 being black to white"},
      {PLACE(train.epochs), from(1), "passes over the training set"},
      {PLACE(train.max_steps), from(0), "updates after which to stop; 0: no limit"},
      {PLACE(train.batch_size), from(1), "samples that one update consumes, over all ranks together"},
      {PLACE(train.microbatches), from_to(0, 65535), "slices a batch is cut into; 0: one a rank", "train.lanes"},
      {PLACE(train.seed), from(0), "everything random follows from it"},
      {PLACE(train.log_every), from(1), "steps from one step record to the next"},
      {PLACE(train.augment), Choices{"none", "crop_flip", "crop_alternate"}, "how images vary from epoch to epoch"},
      {PLACE(train.label_smoothing), from_below(0, 1), "part of a target that is spread over all classes"},
      {PLACE(train.whiten), kAny, "the first convolution takes the correlations out of patches of the training images, and is not trained"},
      {PLACE(train.ema), from_below(0, 1), "decay a step of the moving average of values that is evaluated and saved; 0: none"},
      {PLACE(train.swa_start), from(0), "epoch from which on the values after each epoch are averaged equally, evaluated and saved; 0: never"},
      {PLACE(train.patience), from(0), "evaluations without a better one after which to end; 0: never"},
      {PLACE(train.min_delta), from_to(0, kLargest), "by how much checkpoint.best_metric has to be better to count as such"},
      {PLACE(train.max_minutes), from(0), "minutes after which to stop, resumable; 0: no limit"},
      {PLACE(train.resume), kAny, "go on from: auto, a run's folder, a checkpoint, s3://bucket/prefix; empty: from the start"},
      {PLACE(train.resume_force), kAny, "go on although changed settings lead to other bits"},
      {PLACE(optimizer.name), &KnownNames::optimizers, "the optimizer"},
      {PLACE(optimizer.lr), from_to(0, kLargest), "learning rate"},
      {PLACE(optimizer.momentum), from_below(0, 1), "momentum of sgd"},
      {PLACE(optimizer.weight_decay), from_to(0, kLargest), "L2 penalty, added to the gradient; adamw: part of the values taken off, times the rate"},
      {PLACE(optimizer.nesterov), kAny, "sgd: Nesterov's momentum; needs momentum above 0"},
      {PLACE(optimizer.decay_norm_and_bias), kAny, "weight decay also for biases and norms; false: for weights alone"},
      {PLACE(optimizer.bias_lr_scale), from_to(0, kLargest), "what the rate of biases and norms' shifts is multiplied with"},
      {PLACE(optimizer.beta1), from_below(0, 1), "adam, adamw: decay of the mean of gradients"},
      {PLACE(optimizer.beta2), from_below(0, 1), "adam, adamw: decay of the mean of their squares"},
      {PLACE(optimizer.eps), above_to(0, kLargest), "adam, adamw: added to the root of that mean"},
      {PLACE(optimizer.clip_norm), from_to(0, kLargest), "longest gradient over all parameters, to which longer ones are scaled; 0: any"},
      {PLACE(schedule.name), &KnownNames::schedules, "the learning rate's way through the run"},
      {PLACE(schedule.warmup_epochs), from(0), "epochs in which the rate first grows to optimizer.lr; not for onecycle"},
      {PLACE(schedule.step_epochs), from(1), "step: epochs from one change of the rate to the next"},
      {PLACE(schedule.milestones), from(0), "step: epochs after which the rate changes, instead of every step_epochs"},
      {PLACE(schedule.gamma), from_to(0, kLargest), "step, exponential (each epoch), plateau: what the rate is multiplied with"},
      {PLACE(schedule.patience), from(0), "plateau: evaluations without a better one before the rate changes"},
      {PLACE(schedule.threshold), from_below(0, 1), "plateau: part by which a better one has to be better"},
      {PLACE(schedule.cooldown), from(0), "plateau: evaluations after a change that do not count"},
      {PLACE(schedule.end_factor), from_to(0, 1), "linear: part of the rate that is left at the end of the run"},
      {PLACE(schedule.min_lr), from_to(0, kLargest), "cosine, plateau: the lowest rate"},
      {PLACE(schedule.max_lr), from_to(0, kLargest), "onecycle: the rate at the top; 0: optimizer.lr"},
      {PLACE(schedule.pct_start), from_to(0, 1), "onecycle: part of the steps that lead to the top"},
      {PLACE(schedule.div_factor), above_to(0, kLargest), "onecycle: the top rate is the first times this"},
      {PLACE(schedule.final_div_factor), above_to(0, kLargest), "onecycle: the first rate is the last times this"},
      {PLACE(schedule.anneal), Choices{"cos", "linear"}, "onecycle: the form of both ways"},
      {PLACE(schedule.cycle_momentum), kAny, "onecycle: momentum (adam, adamw: beta1) goes the other way; false: it stays"},
      {PLACE(schedule.base_momentum), from_below(0, 1), "onecycle: momentum at the top rate"},
      {PLACE(schedule.max_momentum), from_below(0, 1), "onecycle: momentum at the first and last rate"},
      {PLACE(strategy.name), &KnownNames::strategies, "how the ranks agree on an update; auto: single on one rank, ddp on more"},
      {PLACE(ddp.bucket_mb), above_to(0, 65536), "ddp: megabytes of gradients that are exchanged in one go"},
      {PLACE(ps.servers), from_to(1, 64), "ps_sync, ps_async: processes that share the parameters, each with a range of them"},
      {PLACE(ps.compensation), Choices{"none", "dc_asgd", "dc_asgd_adaptive"}, "ps_async: what is added to a stale gradient for the values' way since it was begun"},
      {PLACE(ps.lambda), from_to(0, kLargest), "strength of the compensation"},
      {PLACE(ps.lambda_decay), from_below(0, 1), "dc_asgd_adaptive: decay a push of the mean of the gradient's squares"},
      {PLACE(ps.max_staleness), kAny, "ps_async: batches that a worker may be ahead of the slowest before it waits; 0: in step with it; none: any"},
      {PLACE(ps.scale_rate), kAny, "ps_async: divide the learning rate by an update's staleness"},
      {PLACE(ps.restarts), from_to(0, 1000), "how often a worker that dies is started again"},
      {PLACE(inject.delay), kAny, "slept in every step after backward: none, small (10), medium (20), long (30) or milliseconds"},
      {PLACE(inject.delay_kind), Choices{"constant", "gaussian", "pareto", "on_off"}, "the same delay in every step, one around it, one with a heavy tail, or spells of it"},
      {PLACE(inject.sigma_ms), from_to(0, 60000), "deviation of a gaussian delay, in milliseconds"},
      {PLACE(inject.pareto_shape), above_to(1, 100), "tail of a pareto delay, whose mean is the delay: the smaller, the heavier"},
      {PLACE(inject.on_steps), from_to(1, 1e9), "on_off: mean number of steps of a spell with the delay"},
      {PLACE(inject.off_steps), from_to(1, 1e9), "on_off: mean number of steps of a spell without it"},
      {PLACE(inject.slow_rank), from_to(-1, 65535), "the rank to slow further; -1: none"},
      {PLACE(inject.slow_factor), from_to(1, 1000), "how much that rank is slowed: its delay, or without one its computing, takes so many times as long"},
      {PLACE(sim.compute_ms), kAny, "convoy simulate: milliseconds of a batch on a worker; auto: from the model's FLOPs and sim.gflops; measure: as measured here"},
      {PLACE(sim.gflops), above_to(0, 1e6), "GFLOP/s of a worker, for sim.compute_ms=auto"},
      {PLACE(sim.compute_kind), Choices{"constant", "gaussian", "lognormal"}, "how these times vary from batch to batch"},
      {PLACE(sim.compute_sigma), from_to(0, 10), "their deviation, as a part of the mean"},
      {PLACE(sim.latency_us), from_to(0, 1e6), "microseconds that a message is on its way"},
      {PLACE(sim.bandwidth_gbps), above_to(0, 1e5), "gigabits a second of each machine's link"},
      {PLACE(sim.server_gbps), from_to(0, 1e5), "the same of a parameter server's, which all workers share; 0: sim.bandwidth_gbps"},
      {PLACE(cluster.nproc_per_node), from_to(0, 4096), "ranks on each machine; 0: one, or as torchrun, Slurm or Open MPI say"},
      {PLACE(cluster.nnodes), from_to(0, 65535), "machines; 0: one, or as they say"},
      {PLACE(cluster.node_rank), from_to(-1, 65534), "which of the machines this is, from 0; -1: as they say"},
      {PLACE(cluster.master_addr), kAny, "address of machine 0, where all meet; empty: as MASTER_ADDR says"},
      {PLACE(cluster.master_port), from_to(0, 65535), "port there; 0: as MASTER_PORT says, else 29500, or any free one on one machine"},
      {PLACE(cluster.threads), from_to(0, 4096), "threads of a rank; 0: its share of the cores this process may use"},
      {PLACE(cluster.pin), kAny, "keep each rank on cores of its own, if there are enough"},
      {PLACE(cluster.timeout), from_to(1, 86400), "seconds in which all ranks have to come"},
      {PLACE(cluster.operation_timeout), from_to(1, 86400), "seconds in which a rank has to answer before it counts as lost"},
      {PLACE(network.kernels), Choices{"fast", "reference"}, "which kernels compute"},
      {PLACE(network.winograd), Choices{"f4", "f2", "off"}, "Winograd's tiles for 3x3 convolutions: of 4x4, of 2x2 (more exact) or none"},
      {PLACE(checkpoint.every_epochs), from(0), "epochs from one checkpoint to the next; 0: none but at the end"},
      {PLACE(checkpoint.every_steps), from(0), "updates from one checkpoint to the next; 0: none within an epoch"},
      {PLACE(checkpoint.keep), from(0), "newest checkpoints that stay, besides the best; 0: all"},
      {PLACE(checkpoint.best_metric), Choices{"accuracy", "loss"}, "what is best, on the validation set, or without one on the test set"},
      {PLACE(checkpoint.upload), kAny, "where best and last go as well: s3://bucket/prefix; empty: nowhere"},
      {PLACE(checkpoint.upload_deadline), from_to(1, 86400), "seconds that the end of a run waits for uploads"},
      {PLACE(eval.every_epochs), from(1), "epochs from one evaluation to the next; the last has one in any case"},
      {PLACE(eval.flip), kAny, "evaluate the mean of an image's logits and its mirror image's"},
      {PLACE(eval.shift), from_to(0, 8), "evaluate also images moved by so many pixels, up left and down right, for half of the mean; 0: none"},
      {PLACE(run.dir), kAny, "folder in which runs get theirs"},
      {PLACE(run.name), kAny, "name of the run's folder; empty: made from date, time, model and strategy"},
      {PLACE(run.tensorboard), kAny, "write events.out.tfevents.*"},
      {PLACE(run.histograms), from(0), "epochs from one histogram of weights and gradients to the next; 0: none"},
      {PLACE(run.resources), kAny, "write resources.csv, once a second"},
  };
  // clang-format on
  return rows;
}

#undef PLACE

bool begins_with_group(std::string_view name, std::string_view group) {
  return name.size() > group.size() && name.starts_with(group) &&
         name[group.size()] == '.';
}

}  // namespace

std::span<const Setting> settings_table() { return table(); }

const Setting* find_setting(std::string_view name) {
  if (name.empty()) return nullptr;  // as is the alias of most
  const auto row = std::ranges::find_if(table(), [&](const Setting& setting) {
    return setting.name == name || setting.alias == name;
  });
  return row == table().end() ? nullptr : &*row;
}

bool is_list(std::string_view name) {
  const Setting* setting = find_setting(name);
  Settings defaults;
  return setting && std::holds_alternative<Numbers*>(setting->field(defaults));
}

const Setting* find_option_setting(std::string_view group) {
  const Setting* setting = find_setting(std::string(group) + ".name");
  return setting && std::holds_alternative<KnownList>(setting->rule) ? setting : nullptr;
}

bool is_choice(std::string_view name) {
  return name == kExperiment || find_option_setting(name) != nullptr;
}

std::vector<std::string> settings_of_group(std::string_view group) {
  std::vector<std::string> names;
  for (const Setting& setting : table()) {
    if (begins_with_group(setting.name, group)) names.push_back(setting.name);
  }
  return names;
}

}  // namespace convoy
