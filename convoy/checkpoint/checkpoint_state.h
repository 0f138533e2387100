// SPDX-License-Identifier: Apache-2.0
//
// CheckpointState: where training stood, besides the numbers: state.json.
//
// Whatever is random follows from seed, epoch and step, so those are all of it.

#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "convoy/checkpoint/policy_state.h"
#include "convoy/loader/normalization.h"
#include "convoy/network/loss.h"

namespace convoy {

/// The best evaluation so far.
struct BestMark {
  double value = 0;  // of checkpoint.best_metric
  std::uint64_t step = 0;
  int epoch = 0;

  bool operator==(const BestMark&) const = default;
};

struct CheckpointState {
  std::string model, data;  // their names
  std::uint64_t step = 0;
  int epoch = 0;              // the one it is in, from 1
  std::uint64_t samples = 0;  // consumed in that epoch
  bool evaluated = false;     // after that epoch's last step
  std::uint64_t seed = 0;
  std::size_t microbatches = 1;
  double learning_rate = 0;  // of the last step, for people
  Normalization normalization;
  LossSum epoch_sum;  // of that epoch's steps so far
  std::optional<BestMark> best;
  PolicyState course;
  nlohmann::ordered_json updates;  // what makes them keeps of itself; null: nothing
};

nlohmann::ordered_json to_json(const CheckpointState& state);

/// Throws InputError of kind `data`, naming the file, for a field that is missing or not
/// as to_json() writes it.
CheckpointState state_from_json(const nlohmann::ordered_json& content,
                                const std::filesystem::path& file);

}  // namespace convoy
