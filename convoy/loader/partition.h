// SPDX-License-Identifier: Apache-2.0
//
// Partition: assigns samples to workers or micro-batches.
//
//   iid               disjoint random parts of nearly equal length
//   shared            every part has all samples
//   labels            every part has some labels, cut to the length of the shortest part
//   labels_unscaled   every part has some labels, with all their samples
//
// Samples of a part are in ascending order, and a function of samples, labels and seed
// alone. If there is a single part, it has all samples, whatever the kind.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "convoy/data/dataset.h"
#include "convoy/loader/parts.h"

namespace convoy {

enum class Partition { iid, shared, labels, labels_unscaled };

struct PartitionOptions {
  Partition kind = Partition::iid;
  std::size_t parts = 1;
  std::uint64_t seed = 1;
};

/// Makes the parts of `samples`, which are ascending indices into `data`.
///
/// Labels are shuffled and assigned in turn, so the numbers of labels per part differ by
/// at most one. Throws InputError of kind `settings` if there are more parts than labels
/// among the samples, or than samples. Requires: at least one part.
Parts partition_samples(const Dataset& data, std::span<const std::uint32_t> samples,
                        const PartitionOptions& options);

/// Counts samples, [part][label].
std::vector<std::uint64_t> label_counts(const Dataset& data, const Parts& parts);

/// Checks that each micro-batch of a batch can have its own part: parts of equal length,
/// and equal slices of a batch. `iid` is always possible: the shuffled order is cut into
/// batches, and each batch into micro-batches. Throws InputError of kind `settings`.
void check_partition_for_microbatches(Partition kind, std::size_t batch_size,
                                      std::size_t microbatches);

}  // namespace convoy
