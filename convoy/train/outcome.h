// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>

#include "convoy/base/exit_code.h"
#include "convoy/evaluate/evaluation.h"
#include "convoy/network/loss.h"

namespace convoy {

/// How a run ended.
struct Outcome {
  ExitCode code = ExitCode::done;
  std::string reason = "done";
  LossSum train;  // of the last epoch
  std::optional<EvaluationResult> test;
  std::string weights_sha256;  // of all ranks
};

}  // namespace convoy
