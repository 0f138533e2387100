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

namespace convoy {

struct ModelSettings {
  std::string name = "lenet5";

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
  double train_fraction = 1.0;  // part of the training set that is used
  double val_fraction = 0.0;    // part of it that is held out for validation
  SyntheticSettings synthetic;

  bool operator==(const DataSettings&) const = default;
};

struct TrainSettings {
  int epochs = 6;
  int max_steps = 0;       // 0: no limit
  int batch_size = 64;     // samples of one update, over all ranks together
  int lanes = 0;           // slices of a batch; 0: one a rank
  std::uint64_t seed = 1;  // everything random follows from it
  int log_every = 50;      // steps from one step record to the next

  bool operator==(const TrainSettings&) const = default;
};

struct OptimizerSettings {
  std::string name = "sgd";
  double lr = 0.01;
  double momentum = 0.9;
  double weight_decay = 0.0;
  bool nesterov = false;

  bool operator==(const OptimizerSettings&) const = default;
};

struct StrategySettings {
  std::string name = "single";

  bool operator==(const StrategySettings&) const = default;
};

struct ClusterSettings {
  int threads = 0;  // of a rank; 0: all cores this process may use

  bool operator==(const ClusterSettings&) const = default;
};

struct NetworkSettings {
  std::string kernels = "fast";  // or "reference"
  std::string winograd = "f4";   // or "f2", "off"

  bool operator==(const NetworkSettings&) const = default;
};

struct RunSettings {
  std::string dir = "runs";  // folder of all runs
  std::string name;  // of this run's folder; empty: made from date, time, model ...

  bool operator==(const RunSettings&) const = default;
};

struct Settings {
  ModelSettings model;
  DataSettings data;
  TrainSettings train;
  OptimizerSettings optimizer;
  StrategySettings strategy;
  ClusterSettings cluster;
  NetworkSettings network;
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
