// SPDX-License-Identifier: Apache-2.0
//
// Partition: which worker or micro-batch trains on which samples.
//
//   iid               disjoint random parts of nearly equal length
//   shared            every part has all samples
//   labels            every part has some labels, cut to the length of the shortest part
//   labels_unscaled   every part has some labels, with all their samples
//
// Parts are ascending, and a function of samples, labels and seed alone. A single part
// has all samples, whatever the kind.

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

/// Parts of `samples`, which are of `data`, ascending.
///
/// Labels are shuffled and dealt in turn, so no part has two labels more than another.
/// Throws InputError of kind `settings` if there are more parts than labels among the
/// samples, or than samples. Requires: at least one part.
Parts partition_samples(const Dataset& data, std::span<const std::uint32_t> samples,
                        const PartitionOptions& options);

/// How many samples of each label each part has, [part][label].
std::vector<std::uint64_t> label_counts(const Dataset& data, const Parts& parts);

/// Whether the micro-batches of a batch can have a part each: parts of equal length,
/// equal slices of a batch. `iid` always can: it is the whole order that is cut into
/// batches, and each batch into micro-batches. Throws InputError of kind `settings`.
void check_partition_for_microbatches(Partition kind, std::size_t batch_size,
                                      std::size_t microbatches);

}  // namespace convoy
