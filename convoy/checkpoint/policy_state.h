// SPDX-License-Identifier: Apache-2.0
//
// PolicyState: the state of schedules, early stopping and averages, besides the numbers
// in buffers. A resumed run continues from it.

#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "convoy/base/json.h"
#include "convoy/optimizer/early_stop.h"
#include "convoy/optimizer/plateau.h"

namespace convoy {

/// The epoch whose evaluation had the least loss.
struct LeastLoss {
  int epoch = 0;
  double loss = 0;

  bool operator==(const LeastLoss&) const = default;
};

/// The first evaluation that reached train.target_accuracy.
struct TargetReached {
  int epoch = 0;
  double seconds = 0;  // of the run until then
  double accuracy = 0;

  bool operator==(const TargetReached&) const = default;
};

struct PolicyState {
  PlateauState plateau;
  EarlyStopState early_stop;
  std::size_t averaged = 0;  // number of updates of the averages
  std::optional<LeastLoss> least_loss{};
  std::optional<TargetReached> target{};
  double seconds = 0;  // of the run so far

  bool operator==(const PolicyState&) const = default;
};

/// Written and read again, the state is bit-identical.
nlohmann::ordered_json to_json(const PolicyState& state);
/// Throws InputError of kind `data`, naming the field, if the JSON is not a policy state.
PolicyState policy_state_from_json(const JsonObject& course);

}  // namespace convoy
