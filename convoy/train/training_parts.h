// SPDX-License-Identifier: Apache-2.0
//
// TrainingParts: the parts of a run, planned from its settings: data, model, values,
// optimizer, schedule, update source and evaluation policy.

#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "convoy/checkpoint/initial_weights.h"
#include "convoy/checkpoint/policy_state.h"
#include "convoy/comm/comm.h"
#include "convoy/evaluate/evaluation.h"
#include "convoy/fit/largest_batch.h"
#include "convoy/network/kernels/kernel_sets.h"
#include "convoy/optimizer/schedule.h"
#include "convoy/settings/settings.h"
#include "convoy/setup/training_rig.h"
#include "convoy/setup/workload.h"
#include "convoy/train/averages.h"
#include "convoy/train/evaluation_policy.h"
#include "convoy/updates/update_source.h"

namespace convoy {

/// Numbers of the layout of parameters, and how they are divided over the ranks; nullptr:
/// they are not. Borrowed.
struct TrainedNumbers {
  FlatBuffer& numbers;
  const ShardPlan* plan;
};

struct TrainingParts {
  /// Borrows the comm. Throws InputError for invalid settings, and for a job that does
  /// not fit into memory.
  TrainingParts(const Settings& settings, Comm& comm,
                const UpdateSourceFactory& make_updates,
                const std::optional<JobShape>& job = {});

  const UpdateDescription& description() const { return updates->description(); }
  std::size_t steps_planned() const;

  /// The set whose evaluations make decisions: the validation set if there is one.
  std::string_view monitored_split() const {
    return work.samples.validation.empty() ? "test" : "val";
  }

  /// What is evaluated and saved: the averages, or the values before there are any.
  Weights weights() const;
  FlatBuffer& evaluated_values();
  /// The same in full precision: of values of 16 bits the masters.
  TrainedNumbers trained_numbers();

  /// The ranges of the values that this rank has between two updates.
  std::vector<Range> own_ranges() const;

  /// The state of policy and averages that a resume needs.
  PolicyState policy_state() const;
  void set_policy_state(const PolicyState& state);

  Settings settings;
  Comm& comm;
  Workload work;
  std::optional<RunMemory> memory;  // of a job whose processes are known
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

/// The L2 norm of all parameters. If ranks update or have parts of the values
/// (UpdateDescription), all of them call it.
double weight_norm(const TrainingParts& parts);

/// Whether ranks update or have different parts of the values.
bool has_divided_values(const UpdateDescription& updates);

/// Whether there is a checkpoint to resume from, as far as this rank knows.
bool resumes_from_checkpoint(const Settings& settings);

}  // namespace convoy
