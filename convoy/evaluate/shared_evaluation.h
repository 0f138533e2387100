// SPDX-License-Identifier: Apache-2.0
//
// An evaluation on all ranks: each evaluates a contiguous range of the set's batches.

#pragma once

#include "convoy/comm/comm.h"
#include "convoy/evaluate/evaluation.h"

namespace convoy {

/// Evaluates the set on all ranks together. All ranks get the same result, with the same
/// bits on any number of ranks.
EvaluationResult evaluate(const EvaluationSet& set, const Weights& weights,
                          Evaluator& evaluator, Comm& comm);

/// As above, for values of which each rank has a part: the listener makes units whole
/// before they are used, on all ranks together.
EvaluationResult evaluate(const EvaluationSet& set, const Weights& weights,
                          Evaluator& evaluator, Comm& comm, PassListener& listener);

}  // namespace convoy
