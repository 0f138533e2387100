// SPDX-License-Identifier: Apache-2.0
//
// convoy report, and the page that a training leaves.

#include "convoy/plot/plot.h"
#include "tests/apps/small_run.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class ReportCommand : public ProgramTest {
 protected:
  /// The data that a page carries.
  static nlohmann::json data_of(const fs::path& page) {
    const std::string html = read_text(page), begin = "id=\"page-data\">";
    const std::size_t at = html.find(begin) + begin.size();
    return nlohmann::json::parse(html.substr(at, html.find("</script>", at) - at));
  }
};

TEST_F(ReportCommand, IsNotNeededAfterATrainingUnlessThatWasAskedToWriteNone) {
  const CommandResult with = convoy(small_training("with", {"run.histograms=1"}));
  EXPECT_THAT(with.out, HasSubstr("runs/with/report.html"));
  const nlohmann::json run = data_of(here() / "runs/with/report.html").at("runs").at(0);
  EXPECT_EQ(run.at("state"), "finished");
  EXPECT_EQ(run.at("histograms").at("epochs"), nlohmann::json({1, 2}));

  const CommandResult without = convoy(small_training("without", {"run.report=false"}));
  EXPECT_EQ(without.code, 0) << without.err;
  EXPECT_THAT(without.out, Not(HasSubstr("report.html")));
  EXPECT_FALSE(fs::exists(here() / "runs/without/report.html"));
  const CommandResult later = convoy({"report", "runs/without"});
  EXPECT_EQ(later.code, 0) << later.err;
  EXPECT_THAT(later.out, HasSubstr("report    runs/without/report.html\n"));
  EXPECT_TRUE(fs::exists(here() / "runs/without/report.html"));
}

TEST_F(ReportCommand, ComparesRunsInTheFileThatIsNamed) {
  train("a", {"run.report=false"});
  train("b", {"run.report=false", "train.seed=7"});
  const CommandResult result = convoy({"report", "runs/a", "runs/b", "-o", "both.html"});
  EXPECT_EQ(result.code, 0) << result.err;
  const nlohmann::json page = data_of(here() / "both.html");
  EXPECT_EQ(page.at("runs").size(), 2u);
  EXPECT_THAT(page.at("comparison").at("settings"), Contains("train.seed"));
  EXPECT_FALSE(fs::exists(here() / "runs/a/report.html"));
}

TEST_F(ReportCommand, DrawsEveryChartOfAnAsynchronousRun) {
  if (!plot_is_available()) GTEST_SKIP() << kNoPlots;
  ASSERT_EQ(
      convoy(small_training("a", {"run.report=false", "strategy=ps_async", "-n", "3"}))
          .code,
      0);
  const CommandResult result = convoy({"report", "runs/a", "--pictures", "paper"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("files in paper"));
  for (const char* chart :
       {"loss", "time", "staleness", "staleness-histogram", "pushes"}) {
    for (const char* extension : {".png", ".svg"}) {
      EXPECT_THAT(all_below(here() / "paper"), Contains(std::string(chart) + extension));
    }
  }
}

TEST_F(ReportCommand, SaysWhatIsMissingWithoutECharts) {
  train("a", {"run.report=false"});
  const CommandResult result =
      convoy({"report", "runs/a"}, {.environment = {{"CONVOY_ECHARTS", "nowhere"}}});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("ECharts is not installed"));
  const nlohmann::json page = data_of(here() / "runs/a/report.html");
  EXPECT_EQ(page.at("pictures").contains("loss"), plot_is_available());
}

TEST_F(ReportCommand, IsRefusedWithoutRunsOrAPlaceToWrite) {
  expect_refused(convoy({"report", "nothing"}), 74, {"nothing"});
  train("a", {"run.report=false"});
  expect_refused(convoy({"report", "runs/a", "-o", "no/such/folder/x.html"}), 74,
                 {"no/such/folder"});
}

}  // namespace
}  // namespace convoy
