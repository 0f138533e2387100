// SPDX-License-Identifier: Apache-2.0

#include "convoy/pages/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "convoy/compare/comparison_report.h"
#include "convoy/pages/page.h"
#include "convoy/pages/page_charts.h"
#include "convoy/pages/page_files.h"
#include "convoy/pages/run_page.h"
#include "convoy/pages/web_files.h"
#include "convoy/plot/plot.h"
#include "convoy/system/file.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

constexpr std::size_t kMostPoints = 2000, kLeastPoints = 50;
constexpr std::size_t kPointsOfPage = 40'000;  // of a curve of all runs together

std::vector<RunRecord> read_runs(const ReportRequest& request) {
  std::vector<RunRecord> runs;
  for (const fs::path& path : request.runs) {
    for (const fs::path& folder : find_runs(path)) {
      runs.push_back(read_run_record(folder));
      if (request.ended) runs.back().state = state_of(runs.back(), false);
    }
  }
  return runs;
}

PageOptions options_for(std::size_t runs) {
  return {.points = std::clamp(kPointsOfPage / runs, kLeastPoints, kMostPoints),
          .brief = runs > 1};
}

/// Without the runs' folders, which say nothing elsewhere.
json comparison_page(const Comparison& comparison) {
  json object = comparison_json(comparison);
  for (json& run : object["runs"]) run.erase("folder");
  return object;
}

json page_of(const ReportRequest& request, const Comparison& comparison) {
  json page = empty_page();
  const PageOptions options = options_for(comparison.runs.size());
  for (const ComparedRun& each : comparison.runs) {
    page["runs"].push_back(run_page(each.run, each.name, options));
  }
  if (comparison.runs.size() > 1) page["comparison"] = comparison_page(comparison);
  if (request.runs.size() == 1) page["sweep"] = page_sweep(request.runs.front());
  return page;
}

std::string title_of(const ReportRequest& request, const Comparison& comparison) {
  if (comparison.runs.size() == 1) return comparison.runs.front().name;
  const std::string count = fmt::format("{} runs", comparison.runs.size());
  if (request.runs.size() > 1) return count;
  const fs::path folder = fs::absolute(request.runs.front()).lexically_normal();
  const fs::path name =
      folder.has_filename() ? folder.filename() : folder.parent_path().filename();
  return fmt::format("{}: {}", name.string(), count);
}

}  // namespace

WrittenReport write_report(const ReportRequest& request) {
  const Comparison comparison = compare_runs(read_runs(request));
  json page = page_of(request, comparison);
  if (chart_library().empty()) page["pictures"] = inline_pictures(page_charts(page));
  WrittenReport written{
      .page = request.out.empty() ? request.runs.front() / kReportFile : request.out,
      .pictures = {}};
  write_atomically(written.page,
                   page_html(page_text(page), title_of(request, comparison)));
  if (!request.pictures.empty() && plot_is_available()) {
    written.pictures = draw_pictures(page_charts(page), request.pictures);
  }
  return written;
}

}  // namespace convoy
