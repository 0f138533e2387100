// SPDX-License-Identifier: Apache-2.0

#include "convoy/checkpoint/policy_state.h"

#include <nlohmann/json.hpp>
#include <string_view>

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

json least_json(const std::optional<LeastLoss>& least) {
  if (!least) return nullptr;
  return {{"epoch", least->epoch}, {"loss", least->loss}};
}

json target_json(const std::optional<TargetReached>& target) {
  if (!target) return nullptr;
  return {{"epoch", target->epoch},
          {"seconds", target->seconds},
          {"accuracy", target->accuracy}};
}

/// Checkpoints of earlier versions do not have all fields.
bool is_given(const JsonObject& course, std::string_view name) {
  return course.contains(name) && !course.field(name).is_null();
}

std::optional<LeastLoss> least_loss_from(const JsonObject& course) {
  if (!is_given(course, "least_loss")) return std::nullopt;
  const JsonObject least = course.object("least_loss");
  return LeastLoss{.epoch = least.count("epoch"), .loss = least.number("loss")};
}

std::optional<TargetReached> target_from(const JsonObject& course) {
  if (!is_given(course, "target")) return std::nullopt;
  const JsonObject target = course.object("target");
  return TargetReached{.epoch = target.count("epoch"),
                       .seconds = target.number("seconds"),
                       .accuracy = target.number("accuracy")};
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
          {"averaged", state.averaged},
          {"least_loss", least_json(state.least_loss)},
          {"target", target_json(state.target)},
          {"seconds", state.seconds}};
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
          .averaged = course.whole("averaged"),
          .least_loss = least_loss_from(course),
          .target = target_from(course),
          .seconds = is_given(course, "seconds") ? course.number("seconds") : 0};
}

}  // namespace convoy
