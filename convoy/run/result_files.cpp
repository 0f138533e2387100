// SPDX-License-Identifier: Apache-2.0

#include "convoy/run/result_files.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "convoy/base/error.h"
#include "convoy/base/json.h"
#include "convoy/evaluate/evaluation_report.h"
#include "convoy/monitor/layers_json.h"
#include "convoy/pages/report.h"
#include "convoy/system/file.h"
#include "convoy/train/outcome.h"

namespace convoy {
namespace {

using json = nlohmann::ordered_json;

void write_json(const std::filesystem::path& path, const json& object) {
  write_atomically(path, json_text(object) + "\n");
}

void write_evaluation(const Settings& settings, const EvaluationResult& result,
                      const RunFolder& folder) {
  json object = evaluation_json(result);
  object["model"] = settings.model.name;
  object["data"] = settings.data.name;
  object["split"] = "test";
  write_json(folder.path() / "eval.json", object);
}

}  // namespace

void write_model(const Model& model, const RunFolder& folder) {
  write_json(folder.path() / "model.json",
             {{"name", model.name},
              {"input", {model.input.channels, model.input.height, model.input.width}},
              {"layers", layers_json(model)}});
}

void write_results(const Settings& settings, const Outcome& outcome, RunFolder& folder,
                   RunLog& log) try {
  if (outcome.test) write_evaluation(settings, *outcome.test, folder);
  folder.flush();
  if (settings.run.report) write_report({.runs = {folder.path()}, .ended = true});
} catch (const InputError& error) {
  log.warn(fmt::format("the run's page is not complete: {}", error.what()));
}

}  // namespace convoy
