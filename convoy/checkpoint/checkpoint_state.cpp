// SPDX-License-Identifier: Apache-2.0

#include "convoy/checkpoint/checkpoint_state.h"

#include <algorithm>
#include <vector>

#include "convoy/base/error.h"

namespace convoy {
namespace {

using json = nlohmann::ordered_json;

/// A number that is the same for all channels, or a list with one for each.
json by_channel(const Normalization& normalization, double PixelMoments::*moment) {
  const auto& moments = normalization.moments;
  if (moments.size() == 1) return moments.front().*moment;
  json numbers = json::array();
  for (const PixelMoments& of_channel : moments) numbers.push_back(of_channel.*moment);
  return numbers;
}

std::vector<double> numbers_of(const json& by_channel) {
  if (by_channel.is_array()) return by_channel;
  return {by_channel.get<double>()};
}

InputError refusal(const std::string& where, std::string found, std::string expected) {
  return {InputKind::data,
          {.where = where,
           .found = std::move(found),
           .expected = std::move(expected),
           .hint = "use another checkpoint"}};
}

Normalization normalization_from(const json& content, const std::filesystem::path& file) {
  const std::vector<double> means = numbers_of(content.at("mean"));
  const std::vector<double> deviations = numbers_of(content.at("deviation"));
  const bool all_positive =
      std::ranges::all_of(deviations, [](double deviation) { return deviation > 0; });
  if (means.empty() || means.size() != deviations.size() || !all_positive) {
    throw refusal(file.string() + ": normalization.deviation",
                  content.at("deviation").dump(), "numbers above 0, as many as means");
  }
  Normalization normalization{.moments = {}};
  for (std::size_t c = 0; c < means.size(); ++c) {
    normalization.moments.push_back({means[c], deviations[c]});
  }
  return normalization;
}

json as_json(const LossSum& sum) {
  return {{"loss", sum.loss}, {"correct", sum.correct}, {"samples", sum.samples}};
}

LossSum loss_sum_from(const json& content) {
  return {.loss = content.at("loss"),
          .correct = content.at("correct"),
          .samples = content.at("samples")};
}

json as_json(const std::optional<BestMark>& best) {
  if (!best) return nullptr;
  return {{"value", best->value}, {"step", best->step}, {"epoch", best->epoch}};
}

std::optional<BestMark> best_from(const json& content) {
  if (content.is_null()) return std::nullopt;
  return BestMark{.value = content.at("value"),
                  .step = content.at("step"),
                  .epoch = content.at("epoch")};
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
          {"updates", state.updates}};
}

CheckpointState state_from_json(const json& content, const std::filesystem::path& file) {
  try {
    return {.model = content.at("model"),
            .data = content.at("data"),
            .step = content.at("step"),
            .epoch = content.at("epoch"),
            .samples = content.at("samples"),
            .evaluated = content.at("evaluated"),
            .seed = content.at("seed"),
            .microbatches = content.at("lanes"),
            .learning_rate = content.at("learning_rate"),
            .normalization = normalization_from(content.at("normalization"), file),
            .epoch_sum = loss_sum_from(content.at("epoch_sum")),
            .best = best_from(content.at("best")),
            .course = policy_state_from_json(content.at("course")),
            .updates = content.value("updates", json())};
  } catch (const json::exception& error) {
    throw refusal(file.string(), error.what(), "the fields that convoy writes");
  }
}

}  // namespace convoy
