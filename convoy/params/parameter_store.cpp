// SPDX-License-Identifier: Apache-2.0

#include "convoy/params/parameter_store.h"

namespace convoy {

ParameterStore::ParameterStore(const Layout& layout, FlatBuffer& numbers,
                               const ShardPlan& plan, int rank, Residency now,
                               PagePool* pool)
    : numbers_(numbers), rank_(rank), pool_(pool) {
  for (std::size_t i = 0; i < layout.unit_count(); ++i) {
    const UnitId unit{i};
    const Range range = layout.unit(unit);
    units_.push_back({range, plan.part(unit, rank), plan.parts_in(unit, range), now});
    for (const Range& others : units_.back().others_parts()) {
      if (pool != nullptr)
        units_.back().pooled.push_back(pool->add(numbers.view(others)));
    }
  }
}

void ParameterStore::prepare(UnitId unit) {
  for (const PagePool::RangeId range : at(unit).pooled) pool_->provide(range);
}

void ParameterStore::release(UnitId unit) {
  Unit& released = at(unit);
  for (const Range& others : released.others_parts()) {
    if (pool_ == nullptr) numbers_.release(others);
  }
  for (const PagePool::RangeId range : released.pooled) pool_->collect(range);
  released.residency = released.own.size() > 0 ? Residency::shard : Residency::released;
}

}  // namespace convoy
