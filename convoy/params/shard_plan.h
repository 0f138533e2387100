// SPDX-License-Identifier: Apache-2.0
//
// ShardPlan: which rank owns which part of every unit.
//
// A unit is cut into nearly equal parts, one contiguous range per rank:
//
//   |<----------- unit 0 ------------>|<------ unit 1 ------>|
//   |    0    |    1    |    2    | 0'..|  0  |   1  |   2   |
//   ^         ^         ^         ^     cuts at multiples of the granule
//
// All cuts but the ends of units are at multiples of the granule, counted from the
// beginning of the layout, and what lies in one granule has one owner, even if it belongs
// to two units. So an owner has complete granules: the chunks over which a gradient's
// norm is added up, and whole pages of memory. Where a granule goes on, its owner comes
// first in the next unit, and the other ranks follow in turn.

#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "convoy/params/flat_buffer.h"
#include "convoy/params/layout.h"

namespace convoy {

class ShardPlan {
 public:
  /// Requires: ranks >= 1, granule >= 1.
  ShardPlan(const Layout& layout, int ranks, std::size_t granule);

  int ranks() const { return ranks_; }
  std::size_t granule() const { return granule_; }
  std::size_t unit_count() const {
    return parts_.size() / static_cast<std::size_t>(ranks_);
  }

  /// The part of a unit that each rank owns, by rank; it may be empty.
  std::span<const Range> parts(UnitId unit) const;
  Range part(UnitId unit, int rank) const {
    return parts(unit)[static_cast<std::size_t>(rank)];
  }

  /// What they own of a range within the unit, by rank, counted from its beginning.
  std::vector<Range> parts_in(UnitId unit, Range range) const;

  /// The owner of each granule of the layout.
  std::span<const int> owners() const { return owners_; }

  /// All ranges that a rank owns, in order; none is empty, and none touches the next.
  std::vector<Range> ranges_of(int rank) const;
  /// How many elements these are.
  std::size_t size_of(int rank) const;

 private:
  void cut(Range unit, int first);

  int ranks_;
  std::size_t granule_;
  std::vector<Range> parts_;  // [unit][rank]
  std::vector<int> owners_;
};

class PagePool;

/// What is divided over the ranks of a job; nullptr: every rank has all of it. Borrowed.
struct Sharding {
  const ShardPlan* values = nullptr;
  const ShardPlan* gradients = nullptr;  // the sum over all ranks
  const ShardPlan* state = nullptr;      // the optimizer's
  PagePool* pool = nullptr;              // has memory between two steps
};

/// Keeps a rank's own part of the numbers alone. Pages at its ends are small from now on,
/// so that writing to the part takes no memory beside it.
void keep_own_part(const ShardPlan& plan, int rank, FlatBuffer& numbers);

}  // namespace convoy
