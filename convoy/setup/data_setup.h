// SPDX-License-Identifier: Apache-2.0
//
// Data setup: a run's data as the settings say: read, split, partitioned, normalised.
// Invalid settings about it are refused here.

#pragma once

#include "convoy/data/dataset.h"
#include "convoy/loader/augmentation.h"
#include "convoy/loader/normalization.h"
#include "convoy/loader/partition.h"
#include "convoy/loader/sample_order.h"
#include "convoy/loader/transforms/transform_options.h"
#include "convoy/settings/settings.h"

namespace convoy {

/// Loads only the data of load_workload(). With data.split, the training set holds the
/// new training samples and then those of the validation set. Throws InputError.
DataPair load_data_pair(const Settings& settings);
/// As above, as it is published: not split anew, whether it can be trained on or not.
DataPair load_whole_data(const Settings& settings);
Split split_of(const Settings& settings, const Dataset& train);

/// Returns the parts of the training samples for that many workers (data.partition), by
/// worker. Throws InputError.
Parts partition_of(const Settings& settings, const Dataset& train, const Split& samples,
                   int workers);
Partition partition_kind(PartitionChoice choice);

/// Returns what the model takes: the dataset's images, resized or not.
Shape input_shape(const Settings& settings, const Dataset& data);

/// Measures the training set, or returns the numbers of the settings. Throws InputError.
Normalization choose_normalization(const DataSettings& settings, const Dataset& data);

Augmentation augmentation_of(AugmentChoice choice);

/// Returns what is done to training images besides it.
TransformOptions transform_options(const TrainSettings& train);

}  // namespace convoy
