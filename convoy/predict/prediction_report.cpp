// SPDX-License-Identifier: Apache-2.0

#include "convoy/predict/prediction_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace convoy {

std::string prediction_text(const ImagePrediction& prediction,
                            const std::vector<std::string>& classes) {
  std::string text = prediction.name + "\n";
  for (const RankedClass& of : prediction.best) {
    text += fmt::format("  {:6.2f} %  {:>4}  {}\n", 100 * of.probability, of.label,
                        classes[of.label]);
  }
  return text;
}

nlohmann::ordered_json prediction_json(const ImagePrediction& prediction,
                                       const std::vector<std::string>& classes) {
  nlohmann::ordered_json object{{"file", prediction.name}};
  if (!prediction.fault.empty()) {
    object["error"] = prediction.fault;
    return object;
  }
  object["classes"] = nlohmann::ordered_json::array();
  for (const RankedClass& of : prediction.best) {
    object["classes"].push_back({{"label", of.label},
                                 {"name", classes[of.label]},
                                 {"probability", of.probability}});
  }
  return object;
}

}  // namespace convoy
