// SPDX-License-Identifier: Apache-2.0

#include "convoy/landscape/plane.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/ask_python.h"
#include "tests/base/expect_error.h"
#include "tests/landscape/some_weights.h"

namespace convoy {
namespace {

using nlohmann::json;

class PlaneOfSaves : public testing::Test {
 protected:
  std::vector<OwnedWeights> saves(std::size_t count) const {
    std::vector<OwnedWeights> list;
    for (std::size_t i = 0; i < count; ++i) list.push_back(some_weights(model, i + 1));
    return list;
  }

  PrincipalPlane principal(const std::vector<OwnedWeights>& list) const {
    return principal_plane(model, pointers_to(list));
  }

  LaidOutModel model = some_model();
  ThreadTeam team{2};
};

TEST_F(PlaneOfSaves, HasThePrincipalComponentsThatNumpyFinds) {
  const std::vector<OwnedWeights> list = saves(5);
  json rows = json::array();
  for (const OwnedWeights& one : list) {
    rows.push_back(
        std::vector<double>(one.values.numbers().begin(), one.values.numbers().end()));
  }

  const PrincipalPlane found = principal(list);

  const json expected = ask_python("landscape/numpy_pca.py", {{"rows", rows}});
  for (std::size_t i = 0; i < list.size(); ++i) {
    const PlanePoint point = found.plane.nearest(list[i].values);
    EXPECT_NEAR(point.x, expected.at("coordinates")[i][0].get<double>(), 1e-5) << i;
    EXPECT_NEAR(point.y, expected.at("coordinates")[i][1].get<double>(), 1e-5) << i;
  }
  for (const std::size_t i : {0u, 1u}) {
    EXPECT_NEAR(found.explained[i], expected.at("explained")[i].get<double>(), 1e-9);
  }
}

/// Three saves define a plane, so each of them is a point of it.
TEST_F(PlaneOfSaves, ContainsThreeSaves) {
  const std::vector<OwnedWeights> list = saves(3);

  const auto [plane, explained] = principal(list);

  EXPECT_NEAR(explained[0] + explained[1], 1, 1e-9);
  OwnedWeights weights(model);
  for (const OwnedWeights& save : list) {
    plane.weights_at(plane.nearest(save.values), team, weights);
    for (std::size_t i = 0; i < save.values.size(); ++i) {
      ASSERT_NEAR(weights.values.numbers()[i], save.values.numbers()[i], 1e-6) << i;
    }
  }
}

TEST_F(PlaneOfSaves, PutsPointsWhereTheyAreFoundAgain) {
  const std::vector<OwnedWeights> list = saves(4);
  const Plane principal_one = principal(list).plane;
  const Plane random_one = random_plane(model, list[0], /*seed=*/3);
  OwnedWeights weights(model);
  for (const Plane* plane : {&principal_one, &random_one}) {
    plane->weights_at({0.75, -2}, team, weights);

    const PlanePoint found = plane->nearest(weights.values);

    EXPECT_NEAR(found.x, 0.75, 1e-6);
    EXPECT_NEAR(found.y, -2, 1e-6);
  }
}

TEST_F(PlaneOfSaves, HasTheSameBitsOnAnyNumberOfThreads) {
  const Plane plane = principal(saves(4)).plane;
  ThreadTeam alone(1);
  OwnedWeights first(model), second(model);
  plane.weights_at({0.3, 0.7}, team, first);
  plane.weights_at({0.3, 0.7}, alone, second);

  EXPECT_EQ(weights_sha256(model.layout, first.values),
            weights_sha256(model.layout, second.values));
  EXPECT_EQ(plane.sha256(), principal(saves(4)).plane.sha256());
}

TEST_F(PlaneOfSaves, TakesStatisticsAlong) {
  model = some_model("fastnet_small");
  std::vector<OwnedWeights> list = saves(3);
  for (std::size_t i = 0; i < 3; ++i) {
    for (float& number : list[i].statistics.view({0, list[i].statistics.size()})) {
      number = static_cast<float>(i + 1);
    }
  }
  const Plane plane = principal(list).plane;
  OwnedWeights weights(model);

  plane.weights_at({0, 0}, team, weights);
  EXPECT_NEAR(weights.statistics.numbers()[0], 2, 1e-6) << "the mean of 1, 2 and 3";
  plane.weights_at(plane.nearest(list[2].values), team, weights);
  EXPECT_NEAR(weights.statistics.numbers()[0], 3, 1e-4);
}

TEST_F(PlaneOfSaves, HasNoNegativeVariance) {
  model = some_model("fastnet_small");
  std::vector<OwnedWeights> list = saves(3);
  for (float& number : list[0].statistics.view({0, list[0].statistics.size()})) {
    number += 100;
  }
  const Plane plane = principal(list).plane;
  OwnedWeights weights(model);
  for (const double x : {-1000.0, 1000.0}) {
    plane.weights_at({x, x}, team, weights);
    for (const Segment& segment : model.statistics_layout.segments()) {
      if (segment.role != Role::variance) continue;
      for (const float number : weights.statistics.view(segment.range)) {
        ASSERT_GE(number, 0) << segment.name;
      }
    }
  }
}

TEST_F(PlaneOfSaves, NeedsThreeThatDifferInTwoDirections) {
  expect_error(InputKind::data, {"2 of them", "at least 3", "saves_per_epoch"},
               [&] { principal(saves(2)); });
  std::vector<OwnedWeights> same;
  for (int i = 0; i < 3; ++i) same.push_back(some_weights(model, 1));
  expect_error(InputKind::data, {"all the same", "--directions random"},
               [&] { principal(same); });
  std::vector<OwnedWeights> line = saves(3);
  for (std::size_t i = 0; i < line[0].values.size(); ++i) {
    line[2].values.data()[i] = line[0].values.data()[i];
  }
  expect_error(InputKind::data, {"one line"}, [&] { principal(line); });
}

TEST_F(PlaneOfSaves, NeedsFiniteNumbers) {
  std::vector<OwnedWeights> list = saves(3);
  list[1].values.data()[7] = std::numeric_limits<float>::quiet_NaN();

  expect_error(InputKind::data, {"not finite", "diverged"}, [&] { principal(list); });
}

double length(std::span<const float> numbers) {
  double sum = 0;
  for (const float number : numbers) sum += static_cast<double>(number) * number;
  return std::sqrt(sum);
}

TEST_F(PlaneOfSaves, OrRandomOneMovesEveryFilterByItsOwnLength) {
  const OwnedWeights centre = some_weights(model, 1);
  const Plane plane = random_plane(model, centre, /*seed=*/5);
  OwnedWeights moved(model);
  plane.weights_at({1, 0}, team, moved);
  for (const Segment& segment : model.layout.segments()) {
    const std::span own = centre.values.view(segment.range);
    std::span<float> by = moved.values.view(segment.range);
    for (std::size_t i = 0; i < by.size(); ++i) by[i] -= own[i];
    if (segment.shape.size() == 1) {
      EXPECT_EQ(length(by), 0) << segment.name;
      continue;
    }
    const std::size_t size = own.size() / segment.shape[0];
    for (std::size_t begin = 0; begin < own.size(); begin += size) {
      EXPECT_NEAR(length(by.subspan(begin, size)), length(own.subspan(begin, size)), 1e-5)
          << segment.name;
    }
  }
}

TEST_F(PlaneOfSaves, OrRandomOneFollowsFromItsSeed) {
  const OwnedWeights centre = some_weights(model, 1);
  const std::string one = random_plane(model, centre, 5).sha256();

  EXPECT_EQ(random_plane(model, centre, 5).sha256(), one);
  EXPECT_NE(random_plane(model, centre, 6).sha256(), one);
}

}  // namespace
}  // namespace convoy
