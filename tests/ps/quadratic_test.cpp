// SPDX-License-Identifier: Apache-2.0
//
// Compensation where all is known: f(w) = w'Aw / 2 and gradients that are tau updates
// old.
//
// tau + 1 workers that push in turns make every gradient tau updates old. The path is
// compared with that of one worker, at the same rate and with the same noise: the sum of
// squared distances, compensated over not compensated.
//
// Without noise g = Aw, and lambda g g stands for A's diagonal: a gradient is wrong by
// (a - lambda g g) times the way, instead of a times it. That is less for lambda g g up
// to 2 a. Gradients are largest at the start: lambda is the largest that exceeds no a
// there.
//
// With the noise of a likelihood, of variance A, g g / a is chi-squared: the mean square
// of 1 - lambda g g / a is 1 - 2 lambda + 3 lambda^2, least at lambda 1/3.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "convoy/base/random.h"
#include "convoy/optimizer/sgd.h"
#include "convoy/ps/async_server.h"
#include "tests/params/one_segment.h"

namespace convoy {
namespace {

constexpr std::size_t kAxes = 16;

using Vector = std::array<double, kAxes>;

struct Problem {
  double condition = 1;  // largest over smallest curvature; the largest is 1
  bool is_turned = false;
  bool has_noise = false;
  double rate = 0.1;
  std::uint64_t steps = 400;
};

/// w - 2 v (v'w), for a v of length 1 with no zero: its own inverse.
Vector reflect(const Vector& w) {
  double along = 0, length = 0;
  for (std::size_t i = 0; i < kAxes; ++i) {
    along += double(i + 1) * w[i];
    length += double(i + 1) * double(i + 1);
  }
  Vector turned{};
  for (std::size_t i = 0; i < kAxes; ++i) {
    turned[i] = w[i] - 2 * double(i + 1) * along / length;
  }
  return turned;
}

Vector gradient_of(const Problem& problem, std::uint64_t update, Vector w) {
  const RandomStream random(/*seed=*/1, RngStream::synthetic);
  if (problem.is_turned) w = reflect(w);
  for (std::size_t i = 0; i < kAxes; ++i) {
    const double a = std::pow(problem.condition, double(i) / (kAxes - 1) - 1);
    w[i] *= a;
    if (problem.has_noise) {
      w[i] += std::sqrt(a) * double(random.normal(update * kAxes + i));
    }
  }
  return problem.is_turned ? reflect(w) : w;
}

/// The largest lambda with lambda g g <= a for all axes, at the start.
double fitting_lambda(const Problem& problem) {
  Vector start;
  start.fill(1);
  const Vector g = gradient_of(problem, 0, start);
  double least = 1e9;
  for (std::size_t i = 0; i < kAxes; ++i) {
    Vector axis{};
    axis[i] = 1;
    least = std::min(least, gradient_of(problem, 0, axis)[i] / (g[i] * g[i]));
  }
  return least;
}

/// The values before each update.
std::vector<Vector> path_of(const Problem& problem, std::uint64_t tau,
                            const CompensationOptions& compensation) {
  const Layout layout = one_segment(kAxes);
  ThreadTeam team(1);
  FlatBuffer values(layout), gradients(layout);
  std::ranges::fill(values.view({0, kAxes}), 1.0f);
  Sgd sgd(layout, {}, team);
  const std::size_t workers = tau + 1;
  AsyncServer server({.batches = std::vector<std::uint64_t>(workers, problem.steps),
                      .compensation = compensation},
                     {layout, {0, kAxes}, values, sgd}, team);

  const auto now = [&] {
    Vector w{};
    std::ranges::copy(values.view({0, kAxes}), w.begin());
    return w;
  };
  std::vector<Assignment> assigned(workers);
  std::vector<Vector> pulled(workers, now()), path;
  for (std::size_t worker = 0; worker < workers; ++worker) {
    assigned[worker] = server.pull(static_cast<int>(worker));
  }
  for (std::uint64_t update = 0; update < problem.steps; ++update) {
    path.push_back(now());
    const std::size_t worker = update % workers;
    std::ranges::copy(gradient_of(problem, update, pulled[worker]),
                      gradients.view({0, kAxes}).begin());
    server.push(
        static_cast<int>(worker),
        {.sequence = assigned[worker].sequence, .version = assigned[worker].version},
        gradients.view({0, kAxes}), {.rate = problem.rate});
    assigned[worker] = server.pull(static_cast<int>(worker));
    pulled[worker] = now();
  }
  EXPECT_EQ(server.version(), problem.steps);
  EXPECT_EQ(server.staleness().all().max(), tau);
  return path;
}

double squared_distance(const std::vector<Vector>& a, const std::vector<Vector>& b) {
  double sum = 0;
  for (std::size_t step = 0; step < a.size(); ++step) {
    for (std::size_t i = 0; i < kAxes; ++i) sum += std::pow(a[step][i] - b[step][i], 2);
  }
  return sum;
}

/// Distance from the delay-free path, compensated over not compensated.
double ratio(const Problem& problem, std::uint64_t tau,
             const CompensationOptions& compensation) {
  const std::vector<Vector> free = path_of(problem, 0, {});
  const double without = squared_distance(path_of(problem, tau, {}), free);
  return squared_distance(path_of(problem, tau, compensation), free) / without;
}

class Quadratic
    : public testing::TestWithParam<std::tuple<double /*condition*/, std::uint64_t>> {
 protected:
  void expect_nearer(const Problem& problem, const CompensationOptions& compensation,
                     double most) {
    const double found = ratio(problem, tau, compensation);
    EXPECT_LT(found, most)
        << "squared distance from the delay-free path, compensated over "
           "not, at staleness "
        << tau << " and condition " << condition;
    const std::string name = problem.has_noise   ? "noise"
                             : problem.is_turned ? "turned"
                                                 : "";
    RecordProperty("ratio" + name, std::to_string(found));
  }

  const double condition = std::get<0>(GetParam());
  const std::uint64_t tau = std::get<1>(GetParam());
  const double rate = 0.5 / (double(tau) + 1);  // stable at that staleness
};

INSTANTIATE_TEST_SUITE_P(ConditionAndStaleness, Quadratic,
                         testing::Combine(testing::Values(1, 10, 100, 1000),
                                          testing::Values(1, 2, 4, 8)));

TEST_P(Quadratic, IsFollowedMoreCloselyWithCompensation) {
  const Problem problem = {.condition = condition, .rate = rate};
  EXPECT_NEAR(fitting_lambda(problem), 1, 1e-9);
  expect_nearer(problem, {.kind = Compensation::dc_asgd, .lambda = 1}, 0.6);
}

TEST_P(Quadratic, IsFollowedMoreCloselyWithAdaptiveCompensation) {
  expect_nearer({.condition = condition, .rate = rate},
                {.kind = Compensation::dc_asgd_adaptive, .lambda = 0.5}, 0.5);
}

TEST_P(Quadratic, IsFollowedMoreCloselyThroughNoise) {
  expect_nearer({.condition = condition, .has_noise = true, .rate = 0.02, .steps = 3000},
                {.kind = Compensation::dc_asgd, .lambda = 1.0 / 3}, 0.8);
}

/// Squares of the gradient know nothing of curvature across axes. With a lambda that fits
/// they help all the same; with more, in the worst conditioned cases, they do not.
TEST_P(Quadratic, IsFollowedMoreCloselyAcrossAxes) {
  const Problem problem = {.condition = condition, .is_turned = true, .rate = rate};
  expect_nearer(problem,
                {.kind = Compensation::dc_asgd, .lambda = fitting_lambda(problem)}, 0.99);
}

TEST_P(Quadratic, IsFollowedInTheSameWayWithoutStrength) {
  const Problem problem = {.condition = condition, .rate = rate};
  EXPECT_EQ(ratio(problem, tau, {.kind = Compensation::dc_asgd, .lambda = 0}), 1);
}

}  // namespace
}  // namespace convoy
