// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

namespace convoy {

struct CheckpointState;
struct TrainingParts;

/// Ranks, micro-batches, memory and steps of a run, for people. `restored` is what it
/// resumes from, or nullptr.
std::string run_plan(const TrainingParts& parts, const CheckpointState* restored);

}  // namespace convoy
