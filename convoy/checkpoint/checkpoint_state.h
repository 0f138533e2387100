// SPDX-License-Identifier: Apache-2.0
//
// CheckpointState: the training state besides the tensors: state.json.
//
// All randomness follows from seed, epoch and step, so no generator state is saved.

#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "convoy/checkpoint/policy_state.h"
#include "convoy/loader/normalization.h"
#include "convoy/network/loss.h"
#include "convoy/optimizer/loss_scaler.h"

namespace convoy {

/// The best evaluation so far.
struct BestMark {
  double value = 0;  // of checkpoint.best_metric
  std::uint64_t step = 0;
  int epoch = 0;

  bool operator==(const BestMark&) const = default;
};

struct CheckpointState {
  std::string model, data;  // names
  std::uint64_t step = 0;
  int epoch = 0;              // the current epoch, from 1
  std::uint64_t samples = 0;  // consumed in that epoch
  bool evaluated = false;     // whether the epoch's evaluation is already done
  std::uint64_t seed = 0;
  std::size_t microbatches = 1;
  double learning_rate = 0;  // of the last step, informative
  Normalization normalization;
  LossSum epoch_sum;  // over the steps of that epoch so far
  std::optional<BestMark> best;
  PolicyState course;
  std::string precision = "fp32";              // its name
  std::optional<LossScaleState> loss_scale{};  // if the loss is scaled
  nlohmann::ordered_json updates;              // state of the update source; null: none
};

nlohmann::ordered_json to_json(const CheckpointState& state);

/// Throws InputError of kind `data`, naming the file, for a field that is missing or not
/// as to_json() writes it.
CheckpointState state_from_json(const nlohmann::ordered_json& content,
                                const std::filesystem::path& file);

}  // namespace convoy
