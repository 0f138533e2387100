// SPDX-License-Identifier: Apache-2.0

#include "convoy/pages/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "convoy/compare/comparison_report.h"
#include "convoy/pages/page.h"
#include "convoy/pages/run_page.h"
#include "convoy/system/file.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

constexpr std::size_t kMostPoints = 2000, kLeastPoints = 50;
constexpr std::size_t kPointsOfPage = 40'000;  // of a curve of all runs together

std::vector<RunRecord> read_runs(const std::vector<fs::path>& paths) {
  std::vector<RunRecord> runs;
  for (const fs::path& path : paths) {
    for (const fs::path& folder : find_runs(path)) {
      runs.push_back(read_run_record(folder));
    }
  }
  return runs;
}

PageOptions options_for(std::size_t runs) {
  return {.points = std::clamp(kPointsOfPage / runs, kLeastPoints, kMostPoints),
          .brief = runs > 1};
}

}  // namespace

fs::path write_report(const ReportRequest& request) {
  const Comparison comparison = compare_runs(read_runs(request.runs));
  const PageOptions options = options_for(comparison.runs.size());
  json page = empty_page();
  for (const ComparedRun& each : comparison.runs) {
    page["runs"].push_back(run_page(each.run, each.name, options));
  }
  const bool one = comparison.runs.size() == 1;
  if (!one) page["comparison"] = comparison_json(comparison);
  const std::string title =
      one ? comparison.runs.front().name : fmt::format("{} runs", comparison.runs.size());
  const fs::path file =
      request.out.empty() ? request.runs.front() / "report.html" : request.out;
  write_atomically(file, page_html(page_text(page), title));
  return file;
}

}  // namespace convoy
