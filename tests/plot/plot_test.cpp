// SPDX-License-Identifier: Apache-2.0

#include "convoy/plot/plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <limits>
#include <pugixml.hpp>

#include "convoy/system/file.h"
#include "convoy/system/temporary_folder.h"
#include "tests/base/expect_error.h"
#include "tests/plot/png_pixels.h"
#include "tests/plot/some_charts.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

/// A test in a folder of its own.
class PlotTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!plot_is_available()) GTEST_SKIP() << kNoPlots;
  }

  /// All that is drawn as text.
  std::vector<std::string> texts_of(const Chart& chart) {
    draw(chart, svg_);
    pugi::xml_document document;
    EXPECT_TRUE(document.load_file(svg_.c_str()));
    std::vector<std::string> texts;
    for (const auto& node : document.select_nodes("//text")) {
      texts.emplace_back(node.node().text().get());
    }
    return texts;
  }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

  TemporaryFolder folder_;
  fs::path png_ = folder_.path() / "chart.png", svg_ = folder_.path() / "chart.svg";
};

TEST_F(PlotTest, DrawsEveryChartAsPngAndSvg) {
  for (const Chart& chart : some_charts("a name")) {
    draw(chart, png_);
    EXPECT_GT(PngPixels(read_text(png_)).width(), 400) << chart.index();
    EXPECT_THAT(texts_of(chart), testing::Contains(HasSubstr("a name"))) << chart.index();
  }
}

TEST_F(PlotTest, RunsNoCommandThatANameContains) {
  const std::string mark = (folder_.path() / "owned").string();
  const std::string touch = "touch " + mark;
  const std::string system = "system(\"" + touch + "\")";
  const std::vector<std::string> names = {"`" + touch + "`",
                                          "\"\n" + system + "\n\"",
                                          "END\n" + system + "\n",
                                          "\nset output '|" + touch + "'\n",
                                          "@GPVAL_TERM {/=99 x} %s%n \\",
                                          "]]></text><script>x</script>",
                                          std::string("\x01\xFF\0x", 4)};
  for (const std::string& name : names) {
    for (const Chart& chart : some_charts(name)) draw(chart, svg_);

    pugi::xml_document document;
    EXPECT_TRUE(document.load_file(svg_.c_str())) << name;
    EXPECT_TRUE(document.select_nodes("//script").empty()) << name;
  }
  EXPECT_THAT(files(), testing::ElementsAre("chart.svg"));
}

TEST_F(PlotTest, ShowsNamesAsTheyAre) {
  const std::string name = "`a` @c {_d} 3% <&";

  const std::vector<std::string> texts = texts_of(some_map(name));

  EXPECT_EQ(std::ranges::count(texts, name), 6) << testing::PrintToString(texts);
}

TEST_F(PlotTest, DrawsChartsWithoutAnything) {
  const double nan = NAN, inf = std::numeric_limits<double>::infinity();
  const ChartGrid flat{.x = {0, 1}, .y = {0, 1}, .values = {2, 2, 2, 2}};
  const ChartGrid none{.x = {0, 1}, .y = {0, 1}, .values = {nan, inf, -inf, nan}};
  const std::vector<Chart> charts = {
      LineChart{},
      LineChart{.series = {{.name = "gaps", .x = {1, nan}, .y = {nan, inf}}}},
      LineChart{.y = {.label = "", .logarithmic = true},
                .series = {{.name = "point", .x = {0}, .y = {0.5}},
                           {.name = "negative", .x = {1}, .y = {-1}}}},
      HeatMap{},
      HeatMap{.rows = {"r"}, .columns = {"c"}, .counts = {0}},
      ContourChart{.grid = flat},
      ContourChart{.value = {.label = "", .logarithmic = true}, .grid = none},
      ContourChart{.grid = flat, .paths = {{.name = "p", .x = {}, .y = {}}}},
      SurfaceChart{.grid = flat},
      ParallelChart{.axes = {{.name = "a"}, {.name = "b"}}},
      ParallelChart{.axes = {{.name = "a"}, {.name = "b"}}, .lines = {{1, 2}}},
      ParallelChart{.axes = {{.name = "a"}, {.name = "b"}}, .lines = {{1, nan}}},
      BarChart{},
      BarChart{.names = {"a"}, .values = {nan}}};
  for (std::size_t i = 0; i < charts.size(); ++i) {
    EXPECT_NO_THROW(draw(charts[i], svg_)) << i;
  }
}

TEST_F(PlotTest, RefusesOtherExtensionsAndTooManyPoints) {
  expect_error(InputKind::usage, {"chart.jpg", "ends in .png or .svg"},
               [&] { draw(LineChart{}, folder_.path() / "chart.jpg"); });
  const HeatMap large{.rows = std::vector<std::string>(2001),
                      .columns = std::vector<std::string>(2000),
                      .counts = std::vector<std::uint64_t>(2001 * 2000)};
  expect_error(InputKind::usage, {"4002000 points"}, [&] { draw(large, png_); });
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(PlotTest, NamesAFolderThatIsNotThere) {
  expect_error(InputKind::storage, {"nowhere"},
               [&] { draw(some_lines("a"), folder_.path() / "nowhere" / "chart.png"); });
}

/// PATH begins with a folder that has a gnuplot of the test's own.
class OtherGnuplot {
 public:
  explicit OtherGnuplot(const std::string& script) : path_(::getenv("PATH")) {
    const fs::path program = folder_.path() / "gnuplot";
    write_atomically(program, "#!/bin/sh\n" + script);
    fs::permissions(program, fs::perms::owner_all);
    ::setenv("PATH", (folder_.path().string() + ":" + path_).c_str(), 1);
  }
  ~OtherGnuplot() { ::setenv("PATH", path_.c_str(), 1); }
  OtherGnuplot(const OtherGnuplot&) = delete;
  OtherGnuplot& operator=(const OtherGnuplot&) = delete;

 private:
  TemporaryFolder folder_;
  std::string path_;
};

TEST_F(PlotTest, ReportsTheLastLinesOfAGnuplotThatFails) {
  const OtherGnuplot fails("for i in 1 2 3 4 5 6; do echo line $i; done; exit 3");

  expect_error(InputKind::storage,
               {"chart.png", "exit code 3): line 3\nline 4\nline 5\nline 6"},
               [&] { draw(some_lines("a"), png_); });
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(PlotTest, LeavesTheOldPictureWhereANewOneIsIncomplete) {
  draw(some_lines("a"), png_);
  const std::string before = read_text(png_);
  const OtherGnuplot writes_half("head -c 40 '" + png_.string() +
                                 "' > \"$(dirname \"$2\")/picture\"");

  expect_error(InputKind::storage, {"chart.png", "exit code 0"},
               [&] { draw(some_lines("b"), png_); });

  EXPECT_EQ(read_text(png_), before);
  EXPECT_THAT(files(), testing::ElementsAre("chart.png"));
}

}  // namespace
}  // namespace convoy
