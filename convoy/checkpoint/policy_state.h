// SPDX-License-Identifier: Apache-2.0
//
// PolicyState: the state of schedules, early stopping and averages, besides the numbers
// in buffers. A resumed run continues from it.

#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>

#include "convoy/base/json.h"
#include "convoy/optimizer/early_stop.h"
#include "convoy/optimizer/plateau.h"

namespace convoy {

struct PolicyState {
  PlateauState plateau;
  EarlyStopState early_stop;
  std::size_t averaged = 0;  // number of updates of the averages

  bool operator==(const PolicyState&) const = default;
};

/// Written and read again, the state is bit-identical.
nlohmann::ordered_json to_json(const PolicyState& state);
/// Throws InputError of kind `data`, naming the field, if the JSON is not a policy state.
PolicyState policy_state_from_json(const JsonObject& course);

}  // namespace convoy
