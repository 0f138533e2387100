// SPDX-License-Identifier: Apache-2.0
//
// StalenessRecord: the staleness of the gradients that a server applied.
//
// An update's staleness is the number of updates between the pull that its gradient was
// computed from and itself. It is recorded over all updates, per worker, and since the
// last record. The cost of a push does not depend on how many there were.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace convoy {

/// The number of updates whose staleness was from `first` to `last`.
struct StalenessBin {
  std::uint64_t first = 0, last = 0, count = 0;

  bool operator==(const StalenessBin&) const = default;
};

class StalenessCounts {
 public:
  void add(std::uint64_t staleness);

  std::uint64_t count() const { return count_; }
  std::uint64_t max() const { return max_; }
  /// Zero if there was no update.
  double mean() const;

  /// The bins that are not empty, in order: one per value up to 63, then one per power of
  /// two.
  std::vector<StalenessBin> bins() const;

 private:
  static constexpr std::size_t kExact = 64;
  static constexpr std::size_t kExactBits = 6;
  static constexpr std::size_t kBins = kExact + 64 - kExactBits;

  static std::size_t bin_of(std::uint64_t staleness);
  static std::uint64_t first_of(std::size_t bin);
  static std::uint64_t last_of(std::size_t bin);

  std::uint64_t count_ = 0, sum_ = 0, max_ = 0;
  std::array<std::uint64_t, kBins> bins_{};
};

class StalenessRecord {
 public:
  explicit StalenessRecord(std::size_t workers) : by_worker_(workers) {}

  void add(int worker, std::uint64_t staleness);

  std::size_t workers() const { return by_worker_.size(); }
  const StalenessCounts& all() const { return all_; }
  const StalenessCounts& of(int worker) const {
    return by_worker_.at(std::size_t(worker));
  }

  /// Since the last call of start_window(), or from the beginning.
  const StalenessCounts& window() const { return window_; }
  void start_window() { window_ = {}; }

 private:
  StalenessCounts all_, window_;
  std::vector<StalenessCounts> by_worker_;
};

}  // namespace convoy
