// SPDX-License-Identifier: Apache-2.0

#include "convoy/optimizer/master_values.h"

#include <algorithm>
#include <utility>

#include "convoy/optimizer/param_groups.h"

namespace convoy {

MasterValues::MasterValues(std::unique_ptr<Optimizer> optimizer, const Layout& layout,
                           Dtype dtype, ThreadTeam& team)
    : optimizer_(std::move(optimizer)),
      layout_(layout),
      types_(layout, dtype),
      masters_(layout),
      team_(team) {}

void MasterValues::adopt(FlatBuffer& values) {
  std::ranges::copy(values.numbers(), masters_.data());
  round({0, values.size()}, values);
  for (const Segment& segment : layout_.segments()) {
    if (segment.trained) continue;
    std::ranges::copy(values.view(segment.range), masters_.view(segment.range).begin());
  }
}

std::vector<OptimizerSlot> MasterValues::slots() {
  std::vector<OptimizerSlot> slots = optimizer_->slots();
  slots.push_back({kMasterSlot, masters_});
  return slots;
}

void MasterValues::update(Range range, FlatBuffer& values,
                          const ScaledGradients& gradients) {
  optimizer_->update(range, masters_, gradients);
  round(range, values);
}

/// Sets values to their masters, rounded.
void MasterValues::round(Range range, FlatBuffer& values) {
  run_chunks(team_, range, [&](Range chunk) {
    std::ranges::copy(std::as_const(masters_).view(chunk), values.view(chunk).begin());
    types_.round(chunk, values.data() + chunk.begin);
  });
}

}  // namespace convoy
