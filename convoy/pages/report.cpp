// SPDX-License-Identifier: Apache-2.0

#include "convoy/pages/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <nlohmann/json.hpp>

#include "convoy/base/json.h"
#include "convoy/compare/comparison_report.h"
#include "convoy/pages/page.h"
#include "convoy/pages/page_charts.h"
#include "convoy/pages/page_files.h"
#include "convoy/pages/run_page.h"
#include "convoy/pages/web_files.h"
#include "convoy/plot/plot.h"
#include "convoy/system/cpu.h"
#include "convoy/system/file.h"
#include "convoy/system/thread_team.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

constexpr std::size_t kMostPoints = 2000, kLeastPoints = 50;
constexpr std::size_t kPointsOfPage = 40'000;  // of a curve of all runs together

PageOptions options_for(std::size_t runs) {
  return {.points = std::clamp(kPointsOfPage / runs, kLeastPoints, kMostPoints),
          .brief = runs > 1};
}

std::vector<fs::path> folders_of(const ReportRequest& request) {
  std::vector<fs::path> folders;
  for (const fs::path& path : request.runs) {
    for (const fs::path& folder : find_runs(path)) folders.push_back(folder);
  }
  return folders;
}

/// Reads runs on all cores: of hundreds, that takes most of the time.
std::vector<PageRun> read_runs(const std::vector<fs::path>& folders,
                               const PageOptions& options) {
  std::vector<PageRun> runs(folders.size());
  std::vector<std::exception_ptr> errors(folders.size());
  ThreadTeam team(std::min(static_cast<int>(folders.size()), cpu_info().cores));
  team.run(folders.size(), [&](std::size_t i, int) {
    try {
      runs[i] = read_page_run(folders[i], options);
    } catch (...) {
      errors[i] = std::current_exception();
    }
  });
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  return runs;
}

Comparison compared(const std::vector<PageRun>& runs) {
  std::vector<RunRecord> records;
  for (const PageRun& run : runs) records.push_back(run.record);
  return compare_runs(std::move(records));
}

/// Without the runs' folders, which say nothing elsewhere.
json comparison_page(const Comparison& comparison) {
  json object = comparison_json(comparison);
  for (json& run : object["runs"]) run.erase("folder");
  return object;
}

json page_of(const ReportRequest& request, const std::vector<PageRun>& runs,
             const Comparison& comparison) {
  json page = empty_page();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    page["runs"].push_back(
        run_page(runs[i], comparison.runs[i].name, options_for(runs.size())));
  }
  if (comparison.runs.size() > 1) page["comparison"] = comparison_page(comparison);
  if (request.runs.size() == 1) page["sweep"] = page_sweep(request.runs.front());
  return page;
}

bool has_landscape(const json& page) {
  return std::ranges::any_of(page["runs"],
                             [](const json& run) { return run.contains("landscape"); });
}

/// Whether a page has this chart as a picture, because a library that would draw it is
/// missing. Bars need none, and histograms are too many.
bool needs_picture(const PageChart& one, bool has_library) {
  if (has_library) return one.id == kSurfaceChart;
  return !std::holds_alternative<BarChart>(one.chart) &&
         !one.id.starts_with(kHistogramChart);
}

void add_pictures(json& page) {
  std::vector<PageChart> charts = page_charts(page);
  const bool has_library = !chart_library().empty();
  std::erase_if(charts,
                [&](const auto& one) { return !needs_picture(one, has_library); });
  page["pictures"] = inline_pictures(charts);
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
  const std::vector<fs::path> folders = folders_of(request);
  std::vector<PageRun> runs = read_runs(folders, options_for(folders.size()));
  for (PageRun& run : runs) {
    if (request.ended) run.record.state = state_of(run.record, false);
  }
  const Comparison comparison = compared(runs);
  json page = page_of(request, runs, comparison);
  const bool surface = has_landscape(page);
  if (chart_library().empty() || (surface && surface_library().empty())) {
    add_pictures(page);
  }
  WrittenReport written{
      .page = request.out.empty() ? request.runs.front() / kReportFile : request.out,
      .pictures = {}};
  write_atomically(written.page, page_html(json_text(page), title_of(request, comparison),
                                           surface ? Surfaces::in_page : Surfaces::none));
  if (!request.pictures.empty() && plot_is_available()) {
    written.pictures = draw_pictures(page_charts(page), request.pictures);
  }
  return written;
}

}  // namespace convoy
