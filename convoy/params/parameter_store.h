// SPDX-License-Identifier: Apache-2.0
//
// ParameterStore: the numbers of a layout of which a rank has some units whole and of the
// others its own part.
//
//   |  unit 0: whole  |  unit 1: shard   |  unit 2: shard   |
//   | xxxxxxxxxxxxxxx | xxxx             |      xxxx        |     x: in memory
//
// Offsets are those of the layout, whatever is there: only memory comes and goes, which
// units give to each other (system/page_pool.h). All numbers are fp32, which those of a
// 16-bit type are as well (stored_types.h).

#pragma once

#include <array>
#include <span>
#include <vector>

#include "convoy/params/flat_buffer.h"
#include "convoy/params/shard_plan.h"
#include "convoy/system/page_pool.h"

namespace convoy {

/// What a rank has of a unit: all of it, its own part, or, if it owns none, nothing.
enum class Residency { whole, shard, released };

class ParameterStore {
 public:
  /// Borrows numbers and pool for as long as it lives. `now` is what the rank has of the
  /// numbers. Without a pool, units have memory of their own.
  ParameterStore(const Layout& layout, FlatBuffer& numbers, const ShardPlan& plan,
                 int rank, Residency now = Residency::whole, PagePool* pool = nullptr);

  std::size_t unit_count() const { return units_.size(); }
  Residency residency(UnitId unit) const { return at(unit).residency; }

  int rank() const { return rank_; }

  /// Where a unit lies, and the part of each rank within it.
  Range range(UnitId unit) const { return at(unit).range; }
  std::span<float> view(UnitId unit) { return numbers_.view(at(unit).range); }
  std::span<const Range> parts(UnitId unit) const { return at(unit).parts; }

  /// Others are about to fill in their parts of the unit, all of them.
  void prepare(UnitId unit);

  /// The unit is whole from now on: others have filled in their parts.
  void set_whole(UnitId unit) { at(unit).residency = Residency::whole; }

  /// Keeps the own part alone.
  void release(UnitId unit);

 private:
  struct Unit {
    Range range, own;
    std::vector<Range> parts;
    Residency residency = Residency::whole;
    std::vector<PagePool::RangeId> pooled{};  // the parts of others

    std::array<Range, 2> others_parts() const {
      return {Range{range.begin, own.begin}, Range{own.end, range.end}};
    }
  };

  Unit& at(UnitId unit) { return units_[static_cast<std::size_t>(unit)]; }
  const Unit& at(UnitId unit) const { return units_[static_cast<std::size_t>(unit)]; }

  FlatBuffer& numbers_;
  int rank_;
  PagePool* pool_;
  std::vector<Unit> units_;
};

}  // namespace convoy
