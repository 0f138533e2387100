// SPDX-License-Identifier: Apache-2.0
//
// An evaluation that all ranks share: each takes a contiguous range of the set's batches.

#pragma once

#include "convoy/comm/comm.h"
#include "convoy/evaluate/evaluation.h"

namespace convoy {

/// Evaluates the set on all ranks together. All get the same result, and it has the same
/// bits on any number of them.
EvaluationResult evaluate(const EvaluationSet& set, const Weights& weights,
                          Evaluator& evaluator, Comm& comm);

}  // namespace convoy
