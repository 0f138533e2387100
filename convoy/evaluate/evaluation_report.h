// SPDX-License-Identifier: Apache-2.0
//
// The result of an evaluation as text, JSON and CSV; and a check that all ranks evaluate
// the same.

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "convoy/comm/comm.h"
#include "convoy/evaluate/evaluation.h"

namespace convoy {

/// scikit-learn's report, accuracies, confusion matrix, most confused pairs. Top-5 only
/// of more than five classes: of fewer it is always 1.
std::string evaluation_text(const EvaluationResult& result);

/// "test accuracy 87.21 % (8721/10000), loss 0.3810", of that split.
std::string result_line(const EvaluationResult& result, std::string_view split = "test");

/// What each rank evaluated, and that it adds up; empty for one rank.
std::string shares_text(const EvaluationResult& result);

/// As classification_json(), with "loss", "top1" and "top5" {"accuracy", "correct"} and
/// "ranks" [{"samples", "correct"}].
nlohmann::ordered_json evaluation_json(const EvaluationResult& result);

/// CSV: "index,true,predicted,probability" and one line per sample.
std::string predictions_csv(const EvaluationResult& result);

/// Checks that all ranks are about to evaluate as many samples with the same weights.
/// Throws InputError of kind `data` on all of them if not, naming the first that differs.
void expect_same_on_all_ranks(Comm& comm, std::uint64_t samples,
                              std::string_view weights_sha256);

}  // namespace convoy
