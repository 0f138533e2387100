// SPDX-License-Identifier: Apache-2.0
//
// CourseState: what a run has decided and counted on its way, besides numbers in buffers;
// a resume goes on from it.

#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>

#include "convoy/optimizer/plateau.h"
#include "convoy/train/early_stop.h"

namespace convoy {

struct CourseState {
  PlateauState plateau;
  EarlyStopState early_stop;
  std::size_t averaged = 0;  // times that the averages have taken something in

  bool operator==(const CourseState&) const = default;
};

/// Written and read again, the state is equal to the last bit.
nlohmann::ordered_json to_json(const CourseState& state);
/// Throws nlohmann's json::exception if it is something else.
CourseState course_state_from_json(const nlohmann::ordered_json& json);

}  // namespace convoy
