// SPDX-License-Identifier: Apache-2.0
//
// Predictions as text and as JSON.

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "convoy/predict/predictor.h"

namespace convoy {

/// A line with the image's name, and one per class:
///   "  83.12 %   281  tabby". Requires: no fault.
std::string prediction_text(const ImagePrediction& prediction,
                            const std::vector<std::string>& classes);

/// {"file", "classes": [{"label", "name", "probability"}]}, or {"file", "error"}.
nlohmann::ordered_json prediction_json(const ImagePrediction& prediction,
                                       const std::vector<std::string>& classes);

}  // namespace convoy
