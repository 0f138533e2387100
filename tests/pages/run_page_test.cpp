// SPDX-License-Identifier: Apache-2.0

#include "convoy/pages/run_page.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "convoy/system/temporary_folder.h"
#include "tests/pages/shown_run.h"

namespace convoy {
namespace {

using json = nlohmann::ordered_json;

/// The curve of that name, of a rank or of the job, with its own x.
json curve(const json& page, const std::string& name, int rank = -1) {
  for (json series : page["series"]) {
    const int own = series.contains("rank") ? series["rank"].get<int>() : -1;
    if (series["name"] != name || own != rank) continue;
    if (series["x"].is_number()) {
      series["x"] = page["series"][series["x"].get<std::size_t>()]["x"];
    }
    return series;
  }
  return nullptr;
}

TEST(RunPage, HasTheCurvesOfTheRecords) {
  const TemporaryFolder folder;
  write_shown_run(folder.path() / "run");
  const json page = page_of(folder.path() / "run");
  const json loss = curve(page, "train/loss");
  ASSERT_EQ(loss["y"].size(), 20u);
  EXPECT_EQ(loss["x"][4], 5);
  EXPECT_NEAR(loss["y"][4].get<double>(), loss_at(5), 1e-5);
  EXPECT_EQ(curve(page, "val/accuracy")["y"], (json{0.8, 0.9}));
  EXPECT_EQ(curve(page, "val/accuracy")["x"], (json{10, 20}));
  EXPECT_EQ(curve(page, "perf/own_ms", 1)["y"][0], 80);
  EXPECT_EQ(curve(page, "staleness/max")["y"][0], 2);
  EXPECT_EQ(curve(page, "cpu/percent", 0)["y"], (json{95, 95, 95, 95, 95}));
  EXPECT_EQ(curve(page, "cpu/percent", 0)["x"], (json{0, 1, 2, 3, 4}));
  EXPECT_EQ(curve(page, "net/sent_bytes_per_second", 1)["y"], (json{500, 500, 500, 500}));
}

TEST(RunPage, SaysWhereAStepLiesInEpochsAndSeconds) {
  const TemporaryFolder folder;
  const WrittenRun run = write_shown_run(folder.path() / "run");
  run.write("metrics.jsonl", shown_metrics() + step_line(25, 0.1));
  const json page = page_of(run.path);
  EXPECT_EQ(page["places"]["step"], (json{0, 10, 20, 25}));
  EXPECT_EQ(page["places"]["epoch"], (json{0, 1, 2, 2.5}));
  EXPECT_EQ(page["places"]["seconds"], (json{0, 2, 4, 4.5})) << "100 ms a step";
}

TEST(RunPage, HasSettingsAndFiles) {
  const TemporaryFolder folder;
  Settings settings;
  settings.train.epochs = 2;
  write_shown_run(folder.path() / "run", settings);
  const json page = page_of(folder.path() / "run");
  EXPECT_EQ(page["state"], "finished");
  EXPECT_EQ(page["scores"]["test"]["accuracy"], 0.9);
  const auto epochs = std::ranges::find_if(
      page["settings"], [](const json& each) { return each["name"] == "train.epochs"; });
  ASSERT_NE(epochs, page["settings"].end());
  EXPECT_EQ((*epochs)["value"], "2");
  EXPECT_EQ((*epochs)["default"], "6");
  EXPECT_EQ((*epochs)["differs"], true);
  EXPECT_EQ(page["evaluation"]["confusion_matrix"][1][0], 3);
  EXPECT_EQ(page["model"]["layers"].size(), 4u);
  EXPECT_FALSE(page["landscape"].contains("accuracy"));
}

TEST(RunPage, HasHistogramsOfSomeEpochs) {
  const TemporaryFolder folder;
  const WrittenRun run = write_shown_run(folder.path() / "run");
  std::string lines;
  for (int epoch = 1; epoch <= 100; ++epoch) lines += histogram_line(epoch);
  run.write("metrics.jsonl", lines +
                                 R"({"kind":"histograms","step":[],"tensors":{"x":1}})"
                                 "\n" +
                                 histogram_line(101));
  const json found = page_of(run.path)["histograms"];
  ASSERT_EQ(found["epochs"].size(), 10u);
  EXPECT_EQ(found["epochs"].front(), 1);
  EXPECT_EQ(found["epochs"].back(), 101);
  EXPECT_EQ(found["tensors"][0]["name"], "weights/fc");
  EXPECT_EQ(found["tensors"][0]["records"].back()["least"], -101);
  EXPECT_EQ(found["tensors"][1]["records"][0]["counts"], (json{0, 0, 9, 0, 0}));
}

TEST(RunPage, IsBriefForSeveralRuns) {
  const TemporaryFolder folder;
  write_shown_run(folder.path() / "run");
  const json page = page_of(folder.path() / "run", {.points = 6, .brief = true});
  EXPECT_TRUE(curve(page, "perf/own_ms", 1).is_null());
  EXPECT_LE(curve(page, "train/loss")["y"].size(), 6u);
  EXPECT_FALSE(page.contains("settings"));
}

TEST(RunPage, HasASpikeOfMillionsOfSteps) {
  const TemporaryFolder folder;
  const WrittenRun run(folder.path() / "run");
  std::string lines;
  for (int step = 1; step <= 5000; ++step)
    lines += step_line(step, step == 3456 ? 99 : 1);
  run.write("metrics.jsonl", lines);
  const json page = page_of(run.path, {.points = 100});
  const json loss = curve(page, "train/loss");
  EXPECT_LE(loss["y"].size(), 100u);
  EXPECT_NE(std::ranges::find(loss["y"], json(99)), loss["y"].end());
}

TEST(RunPage, HasEveryStepOfARange) {
  const TemporaryFolder folder;
  const WrittenRun run(folder.path() / "run");
  std::string lines;
  for (int step = 1; step <= 5000; ++step) lines += step_line(step, 1);
  run.write("metrics.jsonl", lines);
  const json page = page_of(run.path, {.points = 100, .steps = StepRange{1001, 1050}});
  const json loss = curve(page, "train/loss");
  ASSERT_EQ(loss["x"].size(), 50u);
  EXPECT_EQ(loss["x"].front(), 1001);
  EXPECT_EQ(loss["x"].back(), 1050);
}

TEST(RunPage, ShowsWhatItCanOfABrokenRun) {
  const TemporaryFolder folder;
  const WrittenRun run(folder.path() / "run");
  run.write("metrics.jsonl", "nonsense\n[1,2]\n{\"kind\":\"step\",\"step\":\"x\"}\n" +
                                 std::string(3 << 20, '[') + "\n" + step_line(1, 2) +
                                 R"({"kind":"step","step":2,"loss":[],"ranks":7})"
                                 "\n");
  run.write("resources.csv", "time,rank\n1,2\nx\n1,-1,1,1,1,1,1,1\n1,1e99,1,1,1,1,1,1\n");
  run.write("summary.json", "{\"seconds\":");
  run.write("eval.json", "[]");
  run.write("landscape.json", std::string(100, '['));
  const json page = page_of(run.path);
  EXPECT_EQ(page["state"], "broken");
  EXPECT_EQ(page["problems"].size(), 2u);
  EXPECT_EQ(curve(page, "train/loss")["y"], (json{2, nullptr}));
  EXPECT_FALSE(page.contains("summary"));
  EXPECT_FALSE(page.contains("evaluation"));
  EXPECT_FALSE(page.contains("landscape"));
}

}  // namespace
}  // namespace convoy
