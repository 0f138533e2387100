// SPDX-License-Identifier: Apache-2.0

#include "convoy/train/whole_units.h"

namespace convoy {

WholeUnits::WholeUnits(const Layout& layout, FlatBuffer& numbers, const ShardPlan* plan,
                       PagePool* pool, Comm& comm) {
  if (plan == nullptr) return;
  if (pool != nullptr) pool->trim();
  background_.emplace(comm);
  gathered_.emplace(layout,
                    ParameterStore(layout, numbers, *plan, comm.rank(), Residency::shard),
                    *background_, GatherOptions{.backward = false});
}

PassListener& WholeUnits::listener() {
  return gathered_ ? static_cast<PassListener&>(*gathered_) : nobody_;
}

}  // namespace convoy
