// SPDX-License-Identifier: Apache-2.0

#include "convoy/pages/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "convoy/base/error.h"
#include "convoy/base/json.h"
#include "convoy/pages/page.h"
#include "convoy/pages/page_charts.h"
#include "convoy/pages/run_page.h"
#include "convoy/pages/web_files.h"
#include "convoy/plot/plot.h"
#include "convoy/system/file.h"
#include "convoy/system/temporary_folder.h"
#include "tests/pages/shown_run.h"

namespace convoy {
namespace {

using json = nlohmann::ordered_json;
using testing::HasSubstr;

/// The data that a page carries.
json data_of(const std::string& html) {
  const std::string begin = "id=\"page-data\">";
  const std::size_t at = html.find(begin) + begin.size();
  return json::parse(html.substr(at, html.find("</script>", at) - at));
}

TEST(Page, LoadsNothingAndRunsItsOwnScriptsOnly) {
  const std::string html = page_html(json_text(empty_page()), "a run");
  EXPECT_THAT(html, HasSubstr("default-src &#39;none&#39;; script-src &#39;sha256-"));
  EXPECT_EQ(html.find("src=\"http"), std::string::npos);
  EXPECT_EQ(html.find("{{"), html.find("{{", html.find("<script>")))
      << "all places are filled";
}

TEST(Page, HasNamesThatAreMarkupAsText) {
  json page = empty_page();
  page["runs"].push_back({{"name", "</script><script>alert(1)</script>"}});
  const std::string html = page_html(json_text(page), "<b>\"&'</b>");
  EXPECT_EQ(html.find("alert(1)</script>"), std::string::npos);
  EXPECT_THAT(html, HasSubstr("<title>&lt;b&gt;&quot;&amp;&#39;&lt;/b&gt;</title>"));
  EXPECT_EQ(data_of(html), page);
}

TEST(Report, IsWrittenBesideTheRun) {
  const TemporaryFolder folder;
  write_shown_run(folder.path() / "run");
  const WrittenReport written = write_report({.runs = {folder.path() / "run"}});
  EXPECT_EQ(written.page, folder.path() / "run" / "report.html");
  const json page = data_of(read_text(written.page));
  EXPECT_EQ(page["format"], 1);
  ASSERT_EQ(page["runs"].size(), 1u);
  EXPECT_EQ(page["runs"][0]["name"], "run");
  EXPECT_TRUE(page["comparison"].is_null());
}

TEST(Report, ComparesTheRunsOfAFolder) {
  const TemporaryFolder folder;
  Settings other;
  other.train.seed = 7;
  write_shown_run(folder.path() / "a");
  write_shown_run(folder.path() / "b", other);
  const auto file = folder.path() / "both.html";
  EXPECT_EQ(write_report({.runs = {folder.path()}, .out = file}).page, file);
  const json page = data_of(read_text(file));
  EXPECT_EQ(page["runs"].size(), 2u);
  EXPECT_EQ(page["comparison"]["settings"], json::array({"train.seed"}));
  EXPECT_FALSE(page["comparison"]["runs"][0].contains("folder"));
}

TEST(Report, RefusesAFolderWithoutRuns) {
  const TemporaryFolder folder;
  EXPECT_THROW(write_report({.runs = {folder.path()}}), InputError);
}

TEST(Report, DrawsEveryChartForPapers) {
  if (!plot_is_available()) GTEST_SKIP() << kNoPlots;
  const TemporaryFolder folder;
  write_shown_run(folder.path() / "run");
  const json run = page_of(folder.path() / "run");
  json page = empty_page();
  page["runs"].push_back(run);
  std::vector<std::string> ids;
  for (const PageChart& one : page_charts(page)) ids.push_back(one.id);
  EXPECT_THAT(
      ids, testing::ElementsAre("loss", "accuracy", "learning-rate", "weight-norm",
                                "images-per-second", "step-time", "staleness",
                                "own-compute", "exposed", "cpu", "memory", "network-sent",
                                "network-received", "pushes", "histogram-1",
                                "histogram-2", "time", "staleness-histogram", "confusion",
                                "landscape", "landscape-surface"));
  const std::vector<std::string> files =
      draw_pictures({page_charts(page).front()}, folder.path() / "pictures");
  EXPECT_EQ(files.size(), 2u);
  for (const std::string& file : files)
    EXPECT_TRUE(std::filesystem::exists(file)) << file;
}

TEST(Report, DrawsWhichWorkerPushedWhen) {
  const TemporaryFolder folder;
  const WrittenRun run = write_shown_run(folder.path() / "run");
  run.write("metrics.jsonl",
            R"({"kind":"step","step":1,"ranks":[{"own_ms":0},{"own_ms":5}]})"
            "\n"
            R"({"kind":"step","step":2,"ranks":[{"own_ms":5},{"own_ms":0}]})"
            "\n");
  json page = empty_page();
  page["runs"].push_back(page_of(run.path));
  for (const PageChart& one : page_charts(page)) {
    if (one.id != "pushes") continue;
    const auto& series = std::get<LineChart>(one.chart).series;
    ASSERT_EQ(series.size(), 2u);
    EXPECT_EQ(series[0].name, "worker 0");
    EXPECT_EQ(series[0].x, std::vector<double>{2});
    EXPECT_EQ(series[1].y, std::vector<double>{1}) << "of worker 1";
    return;
  }
  FAIL() << "there is no such chart";
}

TEST(Report, DrawsHowQuickRunsWere) {
  const TemporaryFolder folder;
  write_shown_run(folder.path() / "a");
  write_shown_run(folder.path() / "b");
  write_report({.runs = {folder.path()}, .out = folder.path() / "page.html"});
  std::vector<std::string> ids;
  for (const PageChart& one :
       page_charts(data_of(read_text(folder.path() / "page.html")))) {
    ids.push_back(one.id);
  }
  EXPECT_THAT(ids, testing::IsSupersetOf({"train-loss", "speed-up", "mean-step-time"}));
}

TEST(Report, HasWhatDrawsSurfacesOnlyWhereOneIsShown) {
  if (surface_library().empty()) GTEST_SKIP() << "script/bootstrap installs echarts-gl";
  const TemporaryFolder folder;
  const WrittenRun run = write_shown_run(folder.path() / "run");
  const auto size = [&] {
    return read_text(write_report({.runs = {run.path}}).page).size();
  };
  const std::size_t with = size();
  std::filesystem::remove(run.path / "landscape.json");
  EXPECT_GT(with, size() + surface_library().size() - 1000);
}

TEST(Report, HasPicturesWhereThereIsNoECharts) {
  if (!plot_is_available()) GTEST_SKIP() << kNoPlots;
  LineChart chart{.series = {{.name = "a", .x = {1, 2}, .y = {1, 2}}}};
  const json pictures = inline_pictures({{"loss", chart}});
  EXPECT_THAT(pictures["loss"].get<std::string>(),
              testing::StartsWith("data:image/svg+xml;base64,"));
}

}  // namespace
}  // namespace convoy
