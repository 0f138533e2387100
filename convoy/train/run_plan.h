// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

namespace convoy {

struct CheckpointState;
struct TrainingParts;

/// Describes ranks, micro-batches, memory and steps of a run. `restored` is what it
/// resumes from, or nullptr.
std::string run_plan(const TrainingParts& parts, const CheckpointState* restored);

}  // namespace convoy
