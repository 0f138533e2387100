// SPDX-License-Identifier: Apache-2.0

#include "convoy/monitor/run_hparams.h"

#include <set>

#include "convoy/settings/settings_value.h"

namespace convoy {
namespace {

/// In every run, so that all runs have these columns.
const std::set<std::string, std::less<>> kAlways = {"model.name",
                                                    "data.name",
                                                    "train.batch_size",
                                                    "train.epochs",
                                                    "train.seed",
                                                    "train.microbatches",
                                                    "optimizer.name",
                                                    "optimizer.lr",
                                                    "optimizer.momentum",
                                                    "schedule.name",
                                                    "optimizer.weight_decay",
                                                    "strategy.name"};

/// They change nothing about what is trained, or how fast.
const std::set<std::string, std::less<>> kNever = {
    "data.root",           "train.resume",      "train.resume_force",
    "train.log_every",     "cluster.node_rank", "cluster.master_addr",
    "cluster.master_port", "cluster.timeout",   "cluster.operation_timeout"};

bool is_about_files(const std::string& name) {
  return name.starts_with("run.") || name.starts_with("checkpoint.") ||
         kNever.contains(name);
}

struct AsHparam {
  using Value = Hparams::mapped_type;

  Value operator()(const int* value) const { return static_cast<double>(*value); }
  Value operator()(const std::uint64_t* value) const {
    return static_cast<double>(*value);
  }
  Value operator()(const double* value) const { return *value; }
  Value operator()(const bool* value) const { return *value; }
  Value operator()(const std::string* value) const { return *value; }
  Value operator()(Numbers* value) const { return value_text(value); }
};

}  // namespace

Hparams run_hparams(const Settings& settings) {
  Hparams hparams;
  Settings told = settings, defaults;
  for (const Setting& setting : settings_table()) {
    if (is_about_files(setting.name)) continue;
    const Field value = setting.field(told);
    const bool as_usual = value_text(value) == value_text(setting.field(defaults));
    if (as_usual && !kAlways.contains(setting.name)) continue;
    hparams[setting.name] = std::visit(AsHparam{}, value);
  }
  return hparams;
}

}  // namespace convoy
