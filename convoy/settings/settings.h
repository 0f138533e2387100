// SPDX-License-Identifier: Apache-2.0
//
// Settings: everything a run can be told, with its defaults.
//
// A plain struct. Where values come from is settings_resolve.h; what each may be is one
// line a setting in settings_table.cpp.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace convoy {

using Numbers = std::vector<double>;

struct ModelSettings {
  std::string name = "lenet5";
  std::string init;  // a safetensors file with weights to start from; empty: random ones

  bool operator==(const ModelSettings&) const = default;
};

/// The dataset "synthetic".
struct SyntheticSettings {
  int channels = 1;
  int height = 28;
  int width = 28;
  int classes = 10;
  int train_count = 10000;  // samples
  int test_count = 2000;    // samples
  double noise = 0.25;      // deviation of a pixel, 1 being black to white

  bool operator==(const SyntheticSettings&) const = default;
};

struct DataSettings {
  std::string name = "fashion_mnist";
  std::string root;  // folder of the files; empty: the usual places are searched
  double train_fraction = 1.0;    // part of the training set that is used
  double val_fraction = 0.0;      // part of it that is held out for validation
  std::string partition = "iid";  // or "shared", "labels", "labels_unscaled"
  std::string normalize = "all";  // or "channel", "fixed"
  Numbers mean, std;              // if fixed: one for all channels, or one for each
  SyntheticSettings synthetic;

  bool operator==(const DataSettings&) const = default;
};

struct TrainSettings {
  int epochs = 6;
  int max_steps = 0;             // 0: no limit
  int batch_size = 64;           // samples of one update, over all ranks together
  int microbatches = 0;          // slices of a batch; 0: one a rank
  std::uint64_t seed = 1;        // everything random follows from it
  int log_every = 50;            // steps from one step record to the next
  std::string augment = "none";  // or "crop_flip", "crop_alternate"
  double label_smoothing = 0;    // part of a target that all classes share
  bool whiten = false;           // the first convolution whitens patches, untrained
  double ema = 0;                // decay a step of the values' moving average; 0: none
  int swa_start = 0;             // epoch from which values are averaged equally; 0: never
  int patience = 0;              // evaluations without a better one that end it; 0: never
  double min_delta = 0;          // by which the metric has to be better
  double max_minutes = 0;        // after which to stop, resumable; 0: no limit
  std::string resume;            // auto, a run's folder, a checkpoint, s3://...
  bool resume_force = false;  // even if changed settings break the promise of same bits

  bool operator==(const TrainSettings&) const = default;
};

struct OptimizerSettings {
  std::string name = "sgd";
  double lr = 0.01;
  double momentum = 0.9;
  double weight_decay = 0.0;
  bool nesterov = false;
  bool decay_norm_and_bias = true;  // false: weight decay is for weights alone
  double bias_lr_scale = 1;         // of biases and norms' shifts, times the rate
  double beta1 = 0.9;               // adam, adamw
  double beta2 = 0.999;
  double eps = 1e-8;
  double clip_norm = 0;  // longest gradient, over all parameters; 0: any

  bool operator==(const OptimizerSettings&) const = default;
};

/// The learning rate's way through the run. Each schedule reads its own of these.
struct ScheduleSettings {
  std::string name = "constant";  // or "step", "exponential", "linear" ...
  double warmup_epochs = 0;       // in which the rate grows to optimizer.lr
  int step_epochs = 30;
  Numbers milestones;  // epochs; instead of every step_epochs
  double gamma = 0.1;
  int patience = 10;         // plateau: evaluations without a better one
  double threshold = 1e-4;   // plateau: part by which a better one is better
  int cooldown = 0;          // plateau: evaluations after a change that do not count
  double end_factor = 0.01;  // linear: part of the rate that is left at the end
  double min_lr = 0;
  double max_lr = 0;  // 0: optimizer.lr
  double pct_start = 0.3;
  double div_factor = 25;
  double final_div_factor = 1e4;
  std::string anneal = "cos";  // or "linear"
  bool cycle_momentum = true;
  double base_momentum = 0.85;
  double max_momentum = 0.95;

  bool operator==(const ScheduleSettings&) const = default;
};

struct StrategySettings {
  std::string name = "auto";  // single on one rank, ddp on more

  bool operator==(const StrategySettings&) const = default;
};

struct DdpSettings {
  double bucket_mb = 1;  // of gradients that are exchanged in one go

  bool operator==(const DdpSettings&) const = default;
};

/// The parameter server, and what it makes of stale gradients.
struct PsSettings {
  int servers = 1;                     // processes that share the parameters
  std::string compensation = "none";   // or "dc_asgd", "dc_asgd_adaptive"
  double lambda = 2;                   // its strength
  double lambda_decay = 0.95;          // adaptive: of the mean of squares, a push
  std::string max_staleness = "none";  // pushes a worker may be ahead of the slowest
  bool scale_rate = false;             // the rate is divided by the staleness
  int restarts = 3;                    // of a worker that dies

  bool operator==(const PsSettings&) const = default;
};

/// The virtual cluster of `convoy simulate`.
struct SimSettings {
  std::string compute_ms = "auto";  // of a batch: from FLOPs, "measure", or a number
  double gflops = 50;               // of a worker, if from FLOPs
  std::string compute_kind = "constant";  // or "gaussian", "lognormal"
  double compute_sigma = 0.1;             // deviation, as part of the mean
  double latency_us = 50;                 // of a message
  double bandwidth_gbps = 10;             // of each machine's link
  double server_gbps = 0;                 // of the server's, shared; 0: the same

  bool operator==(const SimSettings&) const = default;
};

/// Delays for experiments, slept after backward, before gradients are exchanged.
struct InjectSettings {
  std::string delay = "none";            // small, medium, long, or milliseconds
  std::string delay_kind = "constant";   // or "gaussian", "pareto", "on_off"
  double sigma_ms = 5;                   // deviation if gaussian
  double pareto_shape = 2.5;             // tail of pareto: the smaller, the heavier
  double on_steps = 20, off_steps = 80;  // on_off: mean length of delayed spells, others
  int slow_rank = -1;                    // slowed further; -1: none
  double slow_factor = 2;                // by that much

  bool operator==(const InjectSettings&) const = default;
};

/// Where zero, -1 or nothing stands, who started this process may say it.
struct ClusterSettings {
  int nproc_per_node = 0;         // ranks on each machine; 0: one
  int nnodes = 0;                 // machines; 0: one
  int node_rank = -1;             // which of them this is
  std::string master_addr;        // where node 0 is
  int master_port = 0;            // 0: any free one on one machine, 29500 on several
  int threads = 0;                // of a rank; 0: its share of this machine's cores
  bool pin = true;                // each rank to cores of its own, if there are enough
  double timeout = 300;           // seconds in which all ranks have to come
  double operation_timeout = 60;  // seconds in which a rank has to answer

  bool operator==(const ClusterSettings&) const = default;
};

struct NetworkSettings {
  std::string kernels = "fast";  // or "reference"
  std::string winograd = "f4";   // or "f2", "off"

  bool operator==(const NetworkSettings&) const = default;
};

struct CheckpointSettings {
  int every_epochs = 1;                  // 0: none but the last
  int every_steps = 0;                   // 0: none in an epoch
  int keep = 3;                          // newest ones, besides the best; 0: all
  std::string best_metric = "accuracy";  // or "loss", of validation, else of test
  std::string upload;                    // s3://bucket/prefix
  double upload_deadline = 600;          // seconds that the end of a run waits for it

  bool operator==(const CheckpointSettings&) const = default;
};

struct EvalSettings {
  int every_epochs = 1;  // from one evaluation to the next; the last epoch has one, too
  bool flip = false;     // logits are the mean of those of an image and its mirror image
  int shift = 0;         // 0: none; else also of views moved by so many pixels

  bool operator==(const EvalSettings&) const = default;
};

struct RunSettings {
  std::string dir = "runs";  // folder of all runs
  std::string name;  // of this run's folder; empty: made from date, time, model ...
  bool tensorboard = true;  // event files
  int histograms = 0;       // epochs from one to the next; 0: none
  bool resources = true;    // resources.csv

  bool operator==(const RunSettings&) const = default;
};

struct Settings {
  ModelSettings model;
  DataSettings data;
  TrainSettings train;
  OptimizerSettings optimizer;
  ScheduleSettings schedule;
  StrategySettings strategy;
  DdpSettings ddp;
  PsSettings ps;
  InjectSettings inject;
  SimSettings sim;
  ClusterSettings cluster;
  NetworkSettings network;
  CheckpointSettings checkpoint;
  EvalSettings eval;
  RunSettings run;

  bool operator==(const Settings&) const = default;
};

/// Where settings that are not defaults were set, by name: "run.yaml:3: train.epochs".
using SettingOrigins = std::map<std::string, std::string, std::less<>>;

/// Refuses values out of range and values that contradict each other.
///
/// Names of models, datasets and the like are not checked: resolve_settings() does that.
/// Throws InputError of kind `settings`, naming the setting's origin where it is known.
void validate(const Settings& settings, const SettingOrigins& origins = {});

/// Every setting as nested YAML. Resolving that file gives equal settings, bit for bit.
/// Requires: the settings are valid.
std::string to_yaml(const Settings& settings);

}  // namespace convoy
