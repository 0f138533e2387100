// SPDX-License-Identifier: Apache-2.0
//
// The result of an evaluation as text, JSON and CSV; and a check that all ranks evaluate
// the same samples and weights.

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "convoy/comm/comm.h"
#include "convoy/evaluate/evaluation.h"

namespace convoy {

/// Returns scikit-learn's report, accuracies, confusion matrix and most confused pairs.
/// Top-5 accuracy is included only for more than five classes; for fewer it is always 1.
std::string evaluation_text(const EvaluationResult& result);

/// Formats as "test accuracy 87.21 % (8721/10000), loss 0.3810", with the split's name.
std::string result_line(const EvaluationResult& result, std::string_view split = "test");

/// Lists what each rank evaluated, and that it adds up; empty for one rank.
std::string shares_text(const EvaluationResult& result);

/// As classification_json(), with "loss", "top1" and "top5" {"accuracy", "correct"} and
/// "ranks" [{"samples", "correct"}].
nlohmann::ordered_json evaluation_json(const EvaluationResult& result);

/// CSV: "index,true,predicted,probability" and one line per sample.
std::string predictions_csv(const EvaluationResult& result);

/// Checks that all ranks evaluate the same number of samples with the same weights.
/// Otherwise throws InputError of kind `data` on all of them, naming the first that
/// differs.
void expect_same_on_all_ranks(Comm& comm, std::uint64_t samples,
                              std::string_view weights_sha256);

}  // namespace convoy
