// SPDX-License-Identifier: Apache-2.0
//
// The targets of `convoy eval`, and the evaluation of several of them: a target that
// fails is named and does not end the rest.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/base/exit_code.h"
#include "convoy/comm/comm.h"
#include "convoy/network/loss.h"

namespace convoy {

struct EvalTargets {
  std::vector<std::string> names;
  bool several = false;  // several were given, or a folder of runs
};

/// Returns the targets that a command line names: the first one, and arguments among the
/// settings that are none, such as runs/b, which are taken out. A folder that is neither
/// a run nor a checkpoint stands for the runs in it.
EvalTargets eval_targets(const std::string& first, std::vector<std::string>& assignments);

/// What came out of an evaluation.
struct EvaluatedStep {
  std::uint64_t step = 0;
  LossSum sum;
};

/// Evaluates one target after the other, on all ranks of a job.
class EvaluatedTarget {
 public:
  virtual ~EvaluatedTarget() = default;

  /// Reads everything that evaluate() needs. Ranks do not communicate. Throws InputError.
  virtual void load(const std::string& name) = 0;

  /// Evaluates what was loaded. Throws InputError, PeerError.
  virtual EvaluatedStep evaluate(const std::string& name) = 0;
};

/// Evaluates the targets of the first rank and prints a table at the end, on the first
/// rank alone. Returns the code of the first target that failed. Throws PeerError.
ExitCode eval_several(const std::vector<std::string>& targets, std::string_view split,
                      Comm& comm, EvaluatedTarget& evaluated);

}  // namespace convoy
