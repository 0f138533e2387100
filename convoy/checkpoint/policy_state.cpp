// SPDX-License-Identifier: Apache-2.0

#include "convoy/checkpoint/policy_state.h"

#include <nlohmann/json.hpp>

namespace convoy {
namespace {

using json = nlohmann::ordered_json;

/// JSON has no infinity, which stands for "none so far".
json best_of(const std::optional<double>& best) {
  return best ? json(*best) : json(nullptr);
}

std::optional<double> best_value_from(const JsonObject& of) {
  if (of.field("best").is_null()) return std::nullopt;
  return of.number("best");
}

}  // namespace

nlohmann::ordered_json to_json(const PolicyState& state) {
  return {{"plateau",
           {{"factor", state.plateau.factor},
            {"best", best_of(state.plateau.best)},
            {"without_better", state.plateau.without_better},
            {"cooling", state.plateau.cooling}}},
          {"early_stop",
           {{"best", best_of(state.early_stop.best)},
            {"best_epoch", state.early_stop.best_epoch},
            {"without_better", state.early_stop.without_better}}},
          {"averaged", state.averaged}};
}

PolicyState policy_state_from_json(const JsonObject& course) {
  const JsonObject plateau = course.object("plateau");
  const JsonObject early_stop = course.object("early_stop");
  return {.plateau = {.factor = plateau.positive("factor", 1),
                      .best = best_value_from(plateau),
                      .without_better = plateau.count("without_better"),
                      .cooling = plateau.count("cooling")},
          .early_stop = {.best = best_value_from(early_stop),
                         .best_epoch = early_stop.count("best_epoch"),
                         .without_better = early_stop.count("without_better")},
          .averaged = course.whole("averaged")};
}

}  // namespace convoy
