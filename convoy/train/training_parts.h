// SPDX-License-Identifier: Apache-2.0
//
// TrainingParts: what a run consists of, planned from its settings: data, model, values,
// optimizer, schedule, where updates come from, and what evaluations decide.

#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "convoy/checkpoint/initial_weights.h"
#include "convoy/checkpoint/policy_state.h"
#include "convoy/comm/comm.h"
#include "convoy/evaluate/evaluation.h"
#include "convoy/network/kernels/kernel_sets.h"
#include "convoy/optimizer/schedule.h"
#include "convoy/settings/settings.h"
#include "convoy/setup/training_rig.h"
#include "convoy/setup/workload.h"
#include "convoy/train/averages.h"
#include "convoy/train/evaluation_policy.h"
#include "convoy/updates/update_source.h"

namespace convoy {

struct TrainingParts {
  /// Borrows the comm. Throws InputError for anything that does not fit.
  TrainingParts(const Settings& settings, Comm& comm,
                const UpdateSourceFactory& make_updates);

  const UpdateDescription& description() const { return updates->description(); }
  std::size_t steps_planned() const;

  /// The set whose evaluations decide anything: the validation set if there is one.
  std::string_view judged_split() const {
    return work.samples.validation.empty() ? "test" : "val";
  }

  /// What is evaluated and saved: the averages, or before there are any the values.
  Weights weights() const;

  /// What a resume needs to know of policy and averages.
  PolicyState policy_state() const;
  void set_policy_state(const PolicyState& state);

  Settings settings;
  Comm& comm;
  Workload work;
  TrainingRig rig;
  Evaluator evaluator;
  std::unique_ptr<UpdateSource> updates;
  Schedule schedule;
  std::optional<InitialWeights> initial;  // if they came from a file
  std::optional<Averages> averages;
  EvaluationPolicy policy;
  std::vector<KernelSet> kernels;  // by rank, once gathered

 private:
  void set_first_values();
};

/// Whether there is a checkpoint to resume from, as far as this rank can see.
bool resumes_from_checkpoint(const Settings& settings);

}  // namespace convoy
