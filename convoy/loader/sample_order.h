// SPDX-License-Identifier: Apache-2.0
//
// SampleOrder: which samples are used, and their order in each epoch.
//
//   split_samples   count -> validation and training samples, both ascending
//   SampleOrder           training samples -> a permutation of them for every epoch
//
// An order of several parts takes a slice of samples from each part in turn, for batches
// whose micro-batches have one part each:
//
//   parts abcde, fghij, slices of two:   | ab fg | cd hi | e j |
//
// Both are functions of the seed (and the epoch) alone: any rank computes the complete
// order and takes its own positions.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "convoy/base/range.h"
#include "convoy/loader/parts.h"

namespace convoy {

struct SplitOptions {
  double train_fraction = 1;  // of the samples that validation leaves; above 0, at most 1
  double val_fraction = 0;    // held out for validation; from 0, below 1
  std::uint64_t seed = 1;
};

/// Indices of samples, ascending; no index is in both.
struct Split {
  std::vector<std::uint32_t> train;
  std::vector<std::uint32_t> validation;
};

/// Chooses at random, validation first, so that it does not depend on train_fraction.
///
/// Throws InputError of kind `settings` for a fraction that is out of range, or that
/// selects no sample although it is not 0. Requires: count < 2^32.
Split split_samples(std::size_t count, const SplitOptions& options);

/// The samples in the order of one epoch. Every worker has its own order.
std::vector<std::uint32_t> epoch_order(std::span<const std::uint32_t> samples,
                                       std::uint64_t seed, int epoch,
                                       std::uint32_t worker = 0);

class SampleOrder {
 public:
  /// A worker's order of `samples`. Unless `shuffle` is set, it is the given order in
  /// every epoch.
  SampleOrder(std::vector<std::uint32_t> samples, std::uint64_t seed, bool shuffle,
              std::uint32_t worker = 0);

  /// Takes `slice` samples of each part in turn; at the end, the rest of each. Parts are
  /// shuffled as for workers 0, 1 ... Requires: parts of equal length, slice > 0.
  SampleOrder(Parts parts, std::size_t slice, std::uint64_t seed, bool shuffle);

  /// Puts the samples in the order of that epoch. Before the first call, the order is as
  /// given.
  void start_epoch(int epoch);

  std::size_t size() const { return order_.size(); }

  /// The samples at these positions of the epoch, valid until the next start_epoch.
  /// Requires: positions.end <= size().
  std::span<const std::uint32_t> at(Range positions) const;

 private:
  SampleOrder(Parts parts, std::size_t slice, std::uint64_t seed, bool shuffle,
              std::uint32_t worker);

  void place(std::size_t part, std::span<const std::uint32_t> samples);

  Parts parts_;                       // as given
  std::vector<std::uint32_t> order_;  // of the current epoch
  std::size_t slice_;
  std::uint64_t seed_;
  bool shuffle_;
  std::uint32_t worker_;  // of the first part
};

}  // namespace convoy
