// SPDX-License-Identifier: Apache-2.0
//
// CheckpointPart: what a checkpoint keeps of an object besides the values that are
// trained.

#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <vector>

#include "convoy/optimizer/optimizer.h"

namespace convoy {

/// By default there is nothing to keep.
class CheckpointPart {
 public:
  virtual ~CheckpointPart() = default;

  /// Goes into state.json.
  virtual nlohmann::ordered_json state() const { return nullptr; }

  /// Takes over what state() gave after `step` updates. Throws InputError if it is the
  /// state of another kind of run.
  virtual void restore(const nlohmann::ordered_json& /*state*/, std::size_t /*step*/) {}

  /// Buffers with one number per parameter, which are saved and restored by name.
  virtual std::vector<OptimizerSlot> slots() { return {}; }
};

}  // namespace convoy
