// SPDX-License-Identifier: Apache-2.0

#include "convoy/params/parameter_store.h"

namespace convoy {

ParameterStore::ParameterStore(const Layout& layout, FlatBuffer& numbers,
                               const ShardPlan& plan, int rank, Residency now)
    : numbers_(numbers) {
  for (std::size_t i = 0; i < layout.unit_count(); ++i) {
    const UnitId unit{i};
    const Range range = layout.unit(unit);
    units_.push_back({range, plan.part(unit, rank), plan.parts_in(unit, range), now});
  }
}

void ParameterStore::release(UnitId unit) {
  Unit& released = at(unit);
  numbers_.release({released.range.begin, released.own.begin});
  numbers_.release({released.own.end, released.range.end});
  released.residency = released.own.size() > 0 ? Residency::shard : Residency::released;
}

}  // namespace convoy
