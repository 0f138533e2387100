// SPDX-License-Identifier: Apache-2.0

#include "convoy/pages/run_page.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "convoy/pages/page_files.h"
#include "convoy/pages/page_histograms.h"
#include "convoy/settings/setting_changes.h"
#include "convoy/settings/settings_schema.h"

namespace convoy {
namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t kFewRanks = 8;
constexpr std::size_t kMostCompared = 16;  // curves whose x others may have, too

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

std::size_t count_ranks(const std::vector<PageSeries>& curves) {
  std::size_t ranks = 0;
  for (const PageSeries& each : curves)
    ranks = std::max(ranks, each.rank.value_or(0) + 1);
  return ranks;
}

/// Curves of the same records have the same x, which is written once.
void share_x(json& list) {
  std::vector<std::size_t> own;  // curves that have their x
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto same = std::ranges::find_if(
        own, [&](std::size_t other) { return list[other]["x"] == list[i]["x"]; });
    if (same != own.end()) {
      list[i]["x"] = *same;
    } else if (own.size() < kMostCompared) {
      own.push_back(i);
    }
  }
}

/// The curves of many ranks together have as many points as those of a few.
json curves_json(const RunCurves& curves, const PageOptions& options) {
  const std::size_t ranks = std::max(count_ranks(curves.series()), kFewRanks);
  json list = json::array();
  for (const PageSeries& series : curves.series()) {
    if (options.brief && (series.rank || series.by_seconds)) continue;
    const bool many = series.rank.has_value();
    list.push_back(
        series_json(series, many ? options.points * kFewRanks / ranks : options.points));
  }
  share_x(list);
  return list;
}

void add_if_there(json& page, const char* name, json value) {
  if (value.is_object() || value.is_array()) page[name] = std::move(value);
}

}  // namespace

PageRun read_page_run(const std::filesystem::path& folder, const PageOptions& options) {
  std::string metrics;
  PageRun run{.record = read_run_record(folder, &metrics),
              .curves = RunCurves(options.steps)};
  run.curves.read(folder, metrics, options.points);
  return run;
}

json run_page(const PageRun& run, const std::string& id, const PageOptions& options) {
  const auto& [record, curves] = run;
  json page = {{"id", id},
               {"name", record.name()},
               {"state", name_of(record.state)},
               {"problems", record.problems},
               {"scores", scores_json(record)},
               {"progress", progress_json(record)}};
  add_if_there(page, "summary", page_file(record.folder / "summary.json"));
  if (!options.brief) {
    page["settings"] = settings_json(record);
    add_if_there(page, "evaluation", page_evaluation(record.folder));
    add_if_there(page, "landscape", page_landscape(record.folder));
    add_if_there(page, "histograms", page_histograms(curves.histogram_lines()));
    add_if_there(page, "model", page_file(record.folder / "model.json"));
  }
  page["places"] = places_json(curves.places());
  page["series"] = curves_json(curves, options);
  return page;
}

}  // namespace convoy
