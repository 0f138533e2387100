// SPDX-License-Identifier: Apache-2.0
//
// CheckpointPart: the state of an object that a checkpoint keeps, besides the trained
// values.

#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <vector>

#include "convoy/optimizer/optimizer.h"

namespace convoy {

/// By default there is no state.
class CheckpointPart {
 public:
  virtual ~CheckpointPart() = default;

  /// Stored in state.json.
  virtual nlohmann::ordered_json state() const { return nullptr; }

  /// Restores what state() returned after `step` updates. Throws InputError if it is the
  /// state of another kind of run.
  virtual void restore(const nlohmann::ordered_json& /*state*/, std::size_t /*step*/) {}

  /// Buffers with one number per parameter, saved and restored by name.
  virtual std::vector<OptimizerSlot> slots() { return {}; }
};

}  // namespace convoy
