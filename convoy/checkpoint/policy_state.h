// SPDX-License-Identifier: Apache-2.0
//
// PolicyState: what a run has decided and counted on its way, besides numbers in buffers;
// a resume goes on from it.

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
  std::size_t averaged = 0;  // times that the averages have taken something in

  bool operator==(const PolicyState&) const = default;
};

/// Written and read again, the state is equal to the last bit.
nlohmann::ordered_json to_json(const PolicyState& state);
/// Throws InputError of kind `data`, naming the field, if it is something else.
PolicyState policy_state_from_json(const JsonObject& course);

}  // namespace convoy
