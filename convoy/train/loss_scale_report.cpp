// SPDX-License-Identifier: Apache-2.0

#include "convoy/train/loss_scale_report.h"

#include <fmt/format.h>

#include <utility>

namespace convoy {

void LossScaleReport::begin() {
  if (scaler_ != nullptr) reported_ = scaler_->state().skipped;
}

std::optional<std::string> LossScaleReport::news() {
  if (scaler_ == nullptr || scaler_->state().skipped == reported_) return std::nullopt;
  reported_ = scaler_->state().skipped;
  return scaler_->overflow_message();
}

nlohmann::ordered_json LossScaleReport::with_fields(nlohmann::ordered_json fields) const {
  if (scaler_ == nullptr) return fields;
  const LossScaleState& state = scaler_->state();
  fields["amp"] = {{"loss_scale", state.scale},
                   {"good_steps", state.good_steps},
                   {"skipped_steps", state.skipped}};
  return fields;
}

std::string LossScaleReport::reason_to_end(const std::string& place) const {
  if (scaler_ == nullptr || !scaler_->is_exhausted()) return "";
  return fmt::format(
      "the loss scale fell below 1 {}: gradients are not finite, however the loss is "
      "scaled; try a lower optimizer.lr, optimizer.clip_norm, or precision=bf16, whose "
      "range is that of fp32",
      place);
}

}  // namespace convoy
