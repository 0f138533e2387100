// SPDX-License-Identifier: Apache-2.0
//
// WholeUnits: numbers that are divided over the ranks, unit by unit, for what reads all
// of them: evaluations, checkpoints, histograms, the hash.
//
//   for_each_unit(units, layout, [&](UnitId unit) { ... numbers.view(...) ... });
//
// All ranks use it together. Where every rank has everything, it does nothing.

#pragma once

#include <optional>

#include "convoy/comm/gathered_units.h"

namespace convoy {

class WholeUnits {
 public:
  /// `plan` divides the numbers; nullptr: they are not divided. The pool, if any, gives
  /// its idle memory back first. Borrows all others for as long as it lives. Requires: no
  /// operation of the comm is running.
  WholeUnits(const Layout& layout, FlatBuffer& numbers, const ShardPlan* plan,
             PagePool* pool, Comm& comm);

  /// Makes a unit whole before its forward and releases it afterwards.
  PassListener& listener();

 private:
  PassListener nobody_;
  std::optional<AsyncComm> background_;
  std::optional<GatheredUnits> gathered_;
};

/// Calls work(unit) for each unit of the layout, whole.
template <class Work>
void for_each_unit(WholeUnits& units, const Layout& layout, const Work& work) {
  for (std::size_t i = 0; i < layout.unit_count(); ++i) {
    units.listener().before_forward(UnitId{i});
    work(UnitId{i});
    units.listener().after_forward(UnitId{i});
  }
}

}  // namespace convoy
