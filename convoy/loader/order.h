// SPDX-License-Identifier: Apache-2.0
//
// Order: which samples are used, and in what order an epoch goes through them.
//
//   split_samples   count -> validation and training samples, both ascending
//   Order           training samples -> a permutation of them for every epoch
//
// Both are functions of the seed (and the epoch) alone: any rank computes the whole order
// and takes the positions that are its part.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "convoy/base/range.h"

namespace convoy {

struct SplitOptions {
  double train_fraction = 1;  // of what validation leaves; above 0, at most 1
  double val_fraction = 0;    // held out for validation; from 0, below 1
  std::uint64_t seed = 1;
};

/// Numbers of samples, ascending; no number is in both.
struct Split {
  std::vector<std::uint32_t> train;
  std::vector<std::uint32_t> validation;
};

/// Chooses at random, validation first, so that it does not depend on the train fraction.
///
/// Throws InputError of kind `settings` for a fraction out of range, or one that leaves
/// nothing where something was asked for. Requires: count < 2^32.
Split split_samples(std::size_t count, const SplitOptions& options);

class Order {
 public:
  /// An order of `samples`, which is kept as it is in every epoch unless `shuffle`.
  Order(std::vector<std::uint32_t> samples, std::uint64_t seed, bool shuffle);

  /// Puts the samples in the order of that epoch. Before it, the order is as given.
  void start_epoch(int epoch);

  std::size_t size() const { return samples_.size(); }

  /// The samples at these positions of the epoch, until the next start_epoch.
  /// Requires: positions.end <= size().
  std::span<const std::uint32_t> at(Range positions) const;

 private:
  std::vector<std::uint32_t> samples_;  // as given
  std::vector<std::uint32_t> order_;    // as used
  std::uint64_t seed_;
  bool shuffle_;
};

}  // namespace convoy
