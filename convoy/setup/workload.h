// SPDX-License-Identifier: Apache-2.0
//
// Workload: what a run trains on: the data, split as the settings say, and the model that
// fits it. Invalid settings about them are refused here.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/data/dataset.h"
#include "convoy/evaluate/evaluation.h"
#include "convoy/loader/loader.h"
#include "convoy/loader/partition.h"
#include "convoy/loader/sample_images.h"
#include "convoy/network/kernels/kernel_sets.h"
#include "convoy/network/model.h"
#include "convoy/network/network.h"
#include "convoy/optimizer/clip_norm.h"
#include "convoy/optimizer/registry.h"
#include "convoy/optimizer/schedule.h"
#include "convoy/params/layout.h"
#include "convoy/settings/known_names.h"
#include "convoy/settings/settings.h"
#include "convoy/setup/data_setup.h"
#include "convoy/setup/training_rig.h"
#include "convoy/strategy/registry.h"

namespace convoy {

/// Whether parameter servers make the updates: ps_sync, ps_async.
bool is_served(const Settings& settings);

struct Workload : LaidOutModel {
  DataPair data;
  Split samples;  // indices into data.train
  Normalization normalization;
};

/// Loads the data and builds the model. Throws InputError.
Workload load_workload(const Settings& settings);

/// Returns the samples of a split, "train", "val" or "test", as the model reads them.
EvaluationSet evaluation_set(const Workload& work, std::string_view split);

/// Returns the images of data.train, as the model reads them. Borrows the data.
SampleImages training_images(const Workload& work);

/// As load_workload(); refuses a batch that is larger than the training set.
Workload load_training_workload(const Settings& settings);

/// Returns settings that repeat a run with that many micro-batches to the same bits,
/// without its name and the checkpoint that it resumed from.
Settings repeatable(const Settings& settings, std::size_t microbatches);

/// The models and datasets that settings may name.
KnownNames known_names();

// The following make options from the settings, with 0 ("default") resolved.

/// Returns the kernel set that network.kernels names for this processor. Throws
/// InputError if the processor cannot run it, or if it is one with bf16 products and the
/// precision is another.
KernelSet kernel_set(const Settings& settings);
/// For training, in passes of at most `most_samples` samples.
NetworkOptions network_options(const Settings& settings, std::size_t most_samples);
EvaluationOptions evaluation_options(const Settings& settings);
int thread_count(const Settings& settings);
/// Throws InputError if there are fewer micro-batches than ranks, or more than samples in
/// a batch.
std::size_t microbatch_count(const Settings& settings, int ranks);
/// Throws InputError for settings that this number of ranks, or of workers of a parameter
/// server, cannot train with. It needs no data, so a launcher calls it before it starts
/// anything.
void check_ranks(const Settings& settings, int ranks);
/// Samples of an epoch whose batches are cut into that many micro-batches
/// (data.partition).
std::size_t samples_of_microbatches(const Settings& settings, const Workload& work,
                                    std::size_t microbatches);
/// Throws InputError for a strategy that does not support that many ranks.
std::string strategy_name(const Settings& settings, int ranks);
StrategyOptions strategy_options(const Settings& settings);
/// Throws InputError for groups of parameters that the layout does not have.
OptimizerOptions optimizer_options(const Settings& settings, const Layout& layout);
/// Options of a rig that updates values of that layout.
RigOptions rig_options(const Settings& settings, const Layout& layout);
/// Options of passes over some micro-batches of every batch.
PassOptions pass_options(const Settings& settings, const MicrobatchPart& part);
/// With ps_async, workers have parts of the samples; otherwise micro-batches have parts
/// as data.partition says, and the loader refuses impossible ones.
LoaderOptions loader_options(const Settings& settings, const Workload& work,
                             const MicrobatchPart& part);
ScheduleOptions schedule_options(const Settings& settings, std::size_t steps,
                                 std::size_t steps_in_epoch);

}  // namespace convoy
