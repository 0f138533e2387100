// SPDX-License-Identifier: Apache-2.0

#include "convoy/checkpoint/checkpoint_state.h"

#include <algorithm>
#include <vector>

#include "convoy/base/json.h"

namespace convoy {
namespace {

using json = nlohmann::ordered_json;

/// Writes one number if all channels have the same, otherwise one number per channel.
json by_channel(const Normalization& normalization, double PixelMoments::*moment) {
  const auto& moments = normalization.moments;
  if (moments.size() == 1) return moments.front().*moment;
  json numbers = json::array();
  for (const PixelMoments& of_channel : moments) numbers.push_back(of_channel.*moment);
  return numbers;
}

std::vector<double> numbers_of(const JsonObject& normalization, const char* name) {
  const json& by_channel = normalization.field(name);
  if (!by_channel.is_array()) return {normalization.number(name)};
  std::vector<double> numbers;
  for (const json& of_channel : by_channel) {
    if (!of_channel.is_number()) normalization.refuse(name, "numbers");
    numbers.push_back(of_channel.get<double>());
  }
  return numbers;
}

Normalization normalization_from(const JsonObject& content) {
  const std::vector<double> means = numbers_of(content, "mean");
  const std::vector<double> deviations = numbers_of(content, "deviation");
  const bool all_positive =
      std::ranges::all_of(deviations, [](double deviation) { return deviation > 0; });
  if (means.empty() || means.size() != deviations.size() || !all_positive) {
    content.refuse("deviation", "numbers above 0, as many as means");
  }
  Normalization normalization{.moments = {}};
  for (std::size_t c = 0; c < means.size(); ++c) {
    normalization.moments.push_back({means[c], deviations[c]});
  }
  return normalization;
}

json as_json(const LossSum& sum) {
  return {{"loss", sum.loss},
          {"correct", sum.correct},
          {"samples", sum.samples},
          {"in_top", sum.in_top}};
}

LossSum loss_sum_from(const JsonObject& content) {
  return {.loss = content.number("loss"),
          .correct = content.whole("correct"),
          .samples = content.whole("samples"),
          // Older checkpoints do not have it.
          .in_top = content.contains("in_top") ? content.whole("in_top") : 0};
}

json as_json(const std::optional<BestMark>& best) {
  if (!best) return nullptr;
  return {{"value", best->value}, {"step", best->step}, {"epoch", best->epoch}};
}

std::optional<BestMark> best_from(const JsonObject& content) {
  if (content.field("best").is_null()) return std::nullopt;
  const JsonObject best = content.object("best");
  return BestMark{.value = best.number("value"),
                  .step = best.whole("step"),
                  .epoch = best.count("epoch")};
}

json as_json(const std::optional<LossScaleState>& loss_scale) {
  if (!loss_scale) return nullptr;
  return {{"scale", loss_scale->scale},
          {"good_steps", loss_scale->good_steps},
          {"skipped", loss_scale->skipped}};
}

/// Runs of fp32, and those before there were others, have none.
std::optional<LossScaleState> loss_scale_from(const JsonObject& content) {
  if (!content.contains("loss_scale") || content.field("loss_scale").is_null()) return {};
  const JsonObject loss_scale = content.object("loss_scale");
  const LossScaleState state{.scale = loss_scale.number("scale"),
                             .good_steps = loss_scale.whole("good_steps"),
                             .skipped = loss_scale.whole("skipped")};
  if (!(state.scale > 0 && state.scale <= LossScaler::kMost)) {
    loss_scale.refuse("scale", "a loss scale up to 2^24");
  }
  return state;
}

}  // namespace

json to_json(const CheckpointState& state) {
  return {{"model", state.model},
          {"data", state.data},
          {"step", state.step},
          {"epoch", state.epoch},
          {"samples", state.samples},
          {"evaluated", state.evaluated},
          {"seed", state.seed},
          {"lanes", state.microbatches},
          {"learning_rate", state.learning_rate},
          {"normalization",
           {{"mean", by_channel(state.normalization, &PixelMoments::mean)},
            {"deviation", by_channel(state.normalization, &PixelMoments::deviation)}}},
          {"epoch_sum", as_json(state.epoch_sum)},
          {"best", as_json(state.best)},
          {"course", to_json(state.course)},
          {"precision", state.precision},
          {"loss_scale", as_json(state.loss_scale)},
          {"updates", state.updates}};
}

CheckpointState state_from_json(const json& content, const std::filesystem::path& file) {
  const JsonObject state(content, {.where = file,
                                   .expected = "the fields that convoy writes",
                                   .hint = "use another checkpoint"});
  return {.model = state.text("model"),
          .data = state.text("data"),
          .step = state.whole("step"),
          .epoch = state.count("epoch"),
          .samples = state.whole("samples"),
          .evaluated = state.boolean("evaluated"),
          .seed = state.whole("seed"),
          .microbatches = state.whole("lanes", 1),
          .learning_rate = state.number("learning_rate"),
          .normalization = normalization_from(state.object("normalization")),
          .epoch_sum = loss_sum_from(state.object("epoch_sum")),
          .best = best_from(state),
          .course = policy_state_from_json(state.object("course")),
          .precision = state.contains("precision") ? state.text("precision") : "fp32",
          .loss_scale = loss_scale_from(state),
          .updates = content.value("updates", json())};
}

}  // namespace convoy
