// SPDX-License-Identifier: Apache-2.0
//
// Workload: what a run works on: the data, cut up as the settings say, and the model that
// fits it. All that can be refused about them is refused here.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "convoy/data/dataset.h"
#include "convoy/evaluate/evaluation.h"
#include "convoy/loader/loader.h"
#include "convoy/loader/partition.h"
#include "convoy/network/kernels/kernel_sets.h"
#include "convoy/network/model.h"
#include "convoy/network/network.h"
#include "convoy/optimizer/clip_norm.h"
#include "convoy/optimizer/registry.h"
#include "convoy/optimizer/schedule.h"
#include "convoy/params/layout.h"
#include "convoy/settings/known_names.h"
#include "convoy/settings/settings.h"
#include "convoy/setup/training_rig.h"
#include "convoy/strategy/registry.h"

namespace convoy {

/// Whether parameter servers make the updates: ps_sync, ps_async.
bool is_served(const Settings& settings);

struct Workload : LaidOutModel {
  DataPair data;
  Split samples;  // of data.train
  Normalization normalization;
};

/// Loads the data and builds the model. Throws InputError.
Workload load_workload(const Settings& settings);

/// What load_workload takes of the data alone.
DataPair load_data_pair(const Settings& settings);
Split split_of(const Settings& settings, const Dataset& train);

/// The parts of the training samples that so many workers go through (data.partition), by
/// worker. Throws InputError.
Parts partition_of(const Settings& settings, const Dataset& train, const Split& samples,
                   int workers);

/// As load_workload; refuses a batch larger than the training samples.
Workload load_training_workload(const Settings& settings);

/// Settings that repeat a run of so many micro-batches to the same bits, without what was
/// its alone: its name and what it went on from.
Settings repeatable(const Settings& settings, std::size_t microbatches);

/// The models and datasets that settings may name.
KnownNames known_names();

/// What network.kernels chooses for this processor. Throws InputError if it has no such
/// kernels.
KernelSet kernel_set(const Settings& settings);
/// What the settings choose, with 0 ("as usual") resolved.
/// For training, in passes of at most so many samples.
NetworkOptions network_options(const Settings& settings, std::size_t most_samples);
EvaluationOptions evaluation_options(const Settings& settings);
int thread_count(const Settings& settings);
/// Throws InputError if there are fewer micro-batches than ranks, or more than samples in
/// a batch.
std::size_t microbatch_count(const Settings& settings, int ranks);
/// Throws InputError for settings that so many ranks, or workers of a parameter server,
/// cannot train with. Needs no data: a launcher asks before it starts anything.
void check_ranks(const Settings& settings, int ranks);
/// Samples of an epoch whose batches are cut into so many micro-batches (data.partition).
std::size_t samples_of_microbatches(const Settings& settings, const Workload& work,
                                    std::size_t microbatches);
/// Throws InputError for a strategy that is not for so many ranks.
std::string strategy_name(const Settings& settings, int ranks);
StrategyOptions strategy_options(const Settings& settings);
OptimizerOptions optimizer_options(const Settings& settings, const Layout& layout);
/// Of a rig that updates values of that layout.
RigOptions rig_options(const Settings& settings, const Layout& layout);
/// Of passes over some micro-batches of every batch.
PassOptions pass_options(const Settings& settings, const MicrobatchPart& part);
/// Unless the strategy is ps_async, whose workers have parts, micro-batches have parts as
/// data.partition says; the loader refuses those that micro-batches cannot have.
LoaderOptions loader_options(const Settings& settings, const Workload& work,
                             const MicrobatchPart& part);
ScheduleOptions schedule_options(const Settings& settings, std::size_t steps,
                                 std::size_t steps_in_epoch);

}  // namespace convoy
