// SPDX-License-Identifier: Apache-2.0

#include "convoy/landscape/landscape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "convoy/comm/alone_comm.h"
#include "convoy/data/synthetic.h"
#include "convoy/landscape/landscape_files.h"
#include "convoy/system/file.h"
#include "convoy/system/temporary_folder.h"
#include "tests/ask_python.h"
#include "tests/landscape/some_weights.h"

namespace convoy {
namespace {

using nlohmann::json;

TEST(GridAroundPoints, IsASquareWidenedByItsWidth) {
  // From 2 - 1 to 6 + 1: a width of 6 on each side.
  const std::vector<PlanePoint> points = {{3, 2}, {6, 4}};

  const SquareGrid grid = grid_around(points, 4);

  EXPECT_EQ(grid.low, -5);
  EXPECT_EQ(grid.high, 13);
  EXPECT_EQ(grid.coordinates(), (std::vector<double>{-5, 1, 7, 13}));
  EXPECT_EQ(grid.point(0), (PlanePoint{-5, -5}));
  EXPECT_EQ(grid.point(1), (PlanePoint{1, -5})) << "x changes first";
  EXPECT_EQ(grid.point(15), (PlanePoint{13, 13}));
}

LossSum loss(double value) { return {.loss = value, .correct = 1, .samples = 2}; }

TEST(LandscapesMinimum, IsTheLeastFiniteLoss) {
  const double infinite = std::numeric_limits<double>::infinity();
  Landscape landscape{
      .grid = {0, 1, 2}, .scores = {}, .paths = {}, .explained = {}, .plane_sha256 = ""};
  landscape.scores = {loss(std::nan("")), loss(3), loss(infinite), loss(2)};

  EXPECT_EQ(landscape.minimum(), 3u);
}

/// Two runs of a few random weights on little data.
class LandscapeOfRuns : public testing::Test {
 protected:
  LandscapeOfRuns() {
    for (const char* name : {"one", "two"}) {
      Trajectory& run = trajectories.emplace_back();
      run.name = name;
      run.run = std::string("runs/") + name;
      for (std::uint64_t step = 0; step < 2; ++step) {
        run.saves.push_back({.step = step * 10, .path = ""});
        run.weights.push_back(some_weights(model, ++seed));
      }
    }
  }

  Landscape evaluated(const LandscapeOptions& options) {
    ThreadTeam team(1);
    AloneComm alone;
    PointLosses losses(model, {}, team, alone);
    const LandscapePlan plan = plan_landscape(model, trajectories, options);
    return evaluate_landscape(plan, trajectories, set, losses, team, {}).value();
  }

  LaidOutModel model = some_model();
  DataPair data = make_synthetic({.train_count = 10, .test_count = 20});
  EvaluationSet set = all_of(data.test, measure(data.train));
  std::uint64_t seed = 0;
  std::vector<Trajectory> trajectories;
  LandscapeSubject subject{.model = "lenet5",
                           .data = "synthetic",
                           .split = "test",
                           .samples = 20,
                           .directions = "pca",
                           .batch_norm = "none"};
};

TEST_F(LandscapeOfRuns, ScoresEverySaveByItsOwnWeights) {
  const Landscape landscape = evaluated({.side = 3});

  ThreadTeam team(1);
  Evaluator evaluator(model.model, model.layout, {}, team);
  EXPECT_EQ(landscape.scores.size(), 9u);
  ASSERT_EQ(landscape.paths.size(), 2u);
  for (std::size_t run = 0; run < 2; ++run) {
    ASSERT_EQ(landscape.paths[run].points.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) {
      const OwnedWeights& weights = trajectories[run].weights[i];
      EXPECT_EQ(landscape.paths[run].points[i].score,
                evaluator.run(set, {weights.values, weights.statistics}).sum);
    }
  }
}

TEST_F(LandscapeOfRuns, HasAllSavesInItsGrid) {
  const Landscape landscape = evaluated({.side = 2});

  for (const LandscapePath& path : landscape.paths) {
    for (const PathPoint& point : path.points) {
      EXPECT_GT(std::min(point.at.x, point.at.y), landscape.grid.low);
      EXPECT_LT(std::max(point.at.x, point.at.y), landscape.grid.high);
    }
  }
}

/// The middle of the grid is the last save of the first run.
TEST_F(LandscapeOfRuns, IsAroundTheEndWithRandomDirections) {
  const Landscape landscape =
      evaluated({.directions = Directions::random, .side = 3, .span = 0.5});

  EXPECT_EQ(landscape.grid.low, -0.5);
  EXPECT_EQ(landscape.grid.high, 0.5);
  EXPECT_FALSE(landscape.explained.has_value());
  EXPECT_EQ(landscape.scores[4], landscape.paths[0].points.back().score);
  EXPECT_EQ(landscape.paths[0].points.back().at, (PlanePoint{0, 0}));
}

TEST_F(LandscapeOfRuns, IsReadByNumpy) {
  const Landscape landscape = evaluated({.side = 3});
  const TemporaryFolder here;
  const std::filesystem::path path = here.path() / "a.npy";
  write_atomically(path, landscape_npy(landscape));

  const json read = ask_python("landscape/numpy_load.py", {{"path", path.string()}});

  EXPECT_EQ(read.at("dtype"), "float64");
  ASSERT_EQ(read.at("rows").size(), 3u);
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_EQ(read.at("rows")[0][i], landscape.grid.point(i).x);
    EXPECT_EQ(read.at("rows")[1][i], landscape.grid.point(i).y);
    EXPECT_EQ(read.at("rows")[2][i], landscape.scores[i].mean_loss());
  }
}

TEST_F(LandscapeOfRuns, SaysEverythingInJson) {
  const Landscape landscape = evaluated({.side = 3});

  const json read = json::parse(landscape_json(landscape, subject));

  EXPECT_EQ(read.at("samples"), 20);
  EXPECT_EQ(read.at("explained_variance").size(), 2u);
  EXPECT_EQ(read.at("loss").size(), 3u);
  EXPECT_EQ(read.at("loss")[2][1], landscape.scores[7].mean_loss()) << "[y][x]";
  EXPECT_EQ(read.at("accuracy")[2][1], landscape.scores[7].accuracy());
  const json& save = read.at("runs")[1].at("saves")[1];
  EXPECT_EQ(read.at("runs")[1].at("name"), "two");
  EXPECT_EQ(save.at("step"), 10);
  EXPECT_EQ(save.at("loss"), landscape.paths[1].points[1].score.mean_loss());
}

TEST_F(LandscapeOfRuns, WritesALossThatIsNotFiniteAsNull) {
  Landscape landscape = evaluated({.side = 2});
  landscape.scores[0].loss = std::nan("");

  EXPECT_TRUE(json::parse(landscape_json(landscape, subject)).at("loss")[0][0].is_null());
}

TEST_F(LandscapeOfRuns, IsDrawnWithItsPathsAndItsMinimum) {
  const Landscape landscape = evaluated({.side = 3});

  const ContourChart chart = contour_chart(landscape, subject);

  EXPECT_EQ(chart.grid.values.size(), 9u);
  EXPECT_TRUE(chart.value.logarithmic);
  ASSERT_EQ(chart.paths.size(), 2u);
  EXPECT_EQ(chart.paths[1].name, "two");
  EXPECT_EQ(chart.paths[1].x[1], landscape.paths[1].points[1].at.x);
  EXPECT_EQ(chart.minimum.value()[0], landscape.grid.point(landscape.minimum()).x);
  EXPECT_EQ(surface_chart(landscape, subject).grid.values, chart.grid.values);
}

}  // namespace
}  // namespace convoy
