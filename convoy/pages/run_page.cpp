// SPDX-License-Identifier: Apache-2.0

#include "convoy/pages/run_page.h"

#include <map>
#include <nlohmann/json.hpp>

#include "convoy/base/error.h"
#include "convoy/base/json.h"
#include "convoy/settings/setting_changes.h"
#include "convoy/settings/settings_schema.h"
#include "convoy/system/file.h"

namespace convoy {
namespace {

using json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr std::size_t kMostFileBytes = std::size_t{1} << 22;

/// A JSON file of the run's folder; null if it is not there or cannot be read.
json file_json(const fs::path& path) try {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return nullptr;
  return parse_json(read_text(path, kMostFileBytes), {.where = path.string()});
} catch (const InputError&) {
  return nullptr;
}

json score_json(const std::optional<RunScore>& score) {
  if (!score) return nullptr;
  return {{"loss", number_json(score->loss)}, {"accuracy", number_json(score->accuracy)}};
}

std::optional<RunScore> train_score(const RunRecord& run) {
  if (run.result && run.result->train) return run.result->train;
  if (run.epochs.empty()) return {};
  return run.epochs.back().score;
}

json scores_json(const RunRecord& run) {
  return {{"train", score_json(train_score(run))},
          {"val", score_json(run.score("val"))},
          {"test", score_json(run.score("test"))}};
}

json progress_json(const RunRecord& run) {
  return {{"step", run.last_step},
          {"epoch", run.epochs.empty() ? 0 : run.epochs.back().epoch},
          {"training_seconds", number_json(run.training_seconds().value_or(0))},
          {"images_per_second", number_json(run.images_per_second().value_or(0))}};
}

/// All settings in the order of the table. Those of a run whose file cannot be read are
/// unknown.
json settings_json(const RunRecord& run) {
  json list = json::array();
  if (!run.settings) return list;
  std::map<std::string, std::string> changed;
  for (const SettingChange& change : setting_changes({}, *run.settings)) {
    changed[change.name] = change.now;
  }
  for (const SettingInfo& info : settings_schema()) {
    const auto found = changed.find(info.name);
    const bool differs = found != changed.end();
    list.push_back({{"name", info.name},
                    {"value", differs ? found->second : info.default_text},
                    {"default", info.default_text},
                    {"differs", differs},
                    {"help", info.help}});
  }
  return list;
}

json places_json(const StepPlaces& places) {
  return {{"step", numbers_json(places.step)},
          {"epoch", numbers_json(places.epoch)},
          {"seconds", numbers_json(places.seconds)}};
}

json curves_json(const RunCurves& curves, const PageOptions& options) {
  json list = json::array();
  for (const PageSeries& series : curves.series()) {
    if (options.brief && series.rank) continue;
    list.push_back(series_json(series, options.points));
  }
  return list;
}

void add_if_there(json& page, const char* name, json value) {
  if (value.is_object() || value.is_array()) page[name] = std::move(value);
}

}  // namespace

json run_page(const RunRecord& run, const std::string& id, const PageOptions& options) {
  RunCurves curves(options.steps);
  curves.read(run.folder, options.points);
  json page = {{"id", id},
               {"name", run.name()},
               {"state", name_of(run.state)},
               {"problems", run.problems},
               {"scores", scores_json(run)},
               {"progress", progress_json(run)}};
  add_if_there(page, "summary", file_json(run.folder / "summary.json"));
  if (!options.brief) {
    page["settings"] = settings_json(run);
    add_if_there(page, "evaluation", file_json(run.folder / "eval.json"));
    add_if_there(page, "landscape", file_json(run.folder / "landscape.json"));
    add_if_there(page, "model", file_json(run.folder / "model.json"));
  }
  page["places"] = places_json(curves.places());
  page["series"] = curves_json(curves, options);
  return page;
}

std::string run_page_json(const RunRecord& run, const PageOptions& options) {
  return page_text(run_page(run, run.name(), options));
}

std::string page_text(const json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace convoy
