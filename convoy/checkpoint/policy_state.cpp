// SPDX-License-Identifier: Apache-2.0

#include "convoy/checkpoint/policy_state.h"

#include <nlohmann/json.hpp>

namespace convoy {
namespace {

using json = nlohmann::ordered_json;

/// JSON has no infinity for "none so far".
json best_of(const std::optional<double>& best) {
  return best ? json(*best) : json(nullptr);
}

std::optional<double> best_value_from(const json& best) {
  if (best.is_null()) return std::nullopt;
  return best.get<double>();
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

PolicyState policy_state_from_json(const nlohmann::ordered_json& json) {
  const auto& plateau = json.at("plateau");
  const auto& early_stop = json.at("early_stop");
  return {.plateau = {.factor = plateau.at("factor").get<double>(),
                      .best = best_value_from(plateau.at("best")),
                      .without_better = plateau.at("without_better").get<int>(),
                      .cooling = plateau.at("cooling").get<int>()},
          .early_stop = {.best = best_value_from(early_stop.at("best")),
                         .best_epoch = early_stop.at("best_epoch").get<int>(),
                         .without_better = early_stop.at("without_better").get<int>()},
          .averaged = json.at("averaged").get<std::size_t>()};
}

}  // namespace convoy
