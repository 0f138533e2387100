// SPDX-License-Identifier: Apache-2.0

#include "convoy/landscape/landscape.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace convoy {
namespace {

std::vector<const OwnedWeights*> all_saves(const std::vector<Trajectory>& trajectories) {
  std::vector<const OwnedWeights*> saves;
  for (const Trajectory& trajectory : trajectories) {
    for (const OwnedWeights& weights : trajectory.weights) saves.push_back(&weights);
  }
  return saves;
}

SquareGrid chosen_grid(const Plane& plane, const std::vector<Trajectory>& trajectories,
                       const LandscapeOptions& options) {
  if (options.span) return {-*options.span, *options.span, options.side};
  if (options.directions == Directions::random) return {-1, 1, options.side};
  std::vector<PlanePoint> points;
  for (const OwnedWeights* save : all_saves(trajectories)) {
    points.push_back(plane.nearest(save->values));
  }
  return grid_around(points, options.side);
}

void copy(const OwnedWeights& from, OwnedWeights& to) {
  std::ranges::copy(from.values.numbers(), to.values.data());
  std::ranges::copy(from.statistics.numbers(), to.statistics.data());
}

/// Takes the paths' scores from those that follow the grid's.
std::vector<LandscapePath> paths_of(const Plane& plane,
                                    const std::vector<Trajectory>& trajectories,
                                    std::span<const LossSum> scores) {
  std::vector<LandscapePath> paths;
  for (const Trajectory& trajectory : trajectories) {
    LandscapePath& path = paths.emplace_back();
    path.name = trajectory.name;
    path.run = trajectory.run;
    for (std::size_t i = 0; i < trajectory.saves.size(); ++i) {
      path.points.push_back({.step = trajectory.saves[i].step,
                             .at = plane.nearest(trajectory.weights[i].values),
                             .score = scores[i]});
    }
    scores = scores.subspan(trajectory.saves.size());
  }
  return paths;
}

}  // namespace

std::size_t Landscape::minimum() const {
  const auto loss = [](const LossSum& sum) {
    const double mean = sum.mean_loss();
    return std::isfinite(mean) ? mean : std::numeric_limits<double>::max();
  };
  return static_cast<std::size_t>(std::ranges::min_element(scores, {}, loss) -
                                  scores.begin());
}

LandscapePlan plan_landscape(const LaidOutModel& model,
                             const std::vector<Trajectory>& trajectories,
                             const LandscapeOptions& options) {
  if (options.directions == Directions::random) {
    Plane plane = random_plane(model, trajectories.front().weights.back(), options.seed);
    const SquareGrid grid = chosen_grid(plane, trajectories, options);
    return {std::move(plane), grid, std::nullopt};
  }
  PrincipalPlane found = principal_plane(model, all_saves(trajectories));
  const SquareGrid grid = chosen_grid(found.plane, trajectories, options);
  return {std::move(found.plane), grid, found.explained};
}

std::optional<Landscape> evaluate_landscape(const LandscapePlan& plan,
                                            const std::vector<Trajectory>& trajectories,
                                            const EvaluationSet& set, PointLosses& losses,
                                            ThreadTeam& team,
                                            const PointObserver& observer) {
  const std::vector<const OwnedWeights*> saves = all_saves(trajectories);
  const std::size_t on_grid = plan.grid.size();
  const PointSource source{.count = on_grid + saves.size(),
                           .set_weights = [&](std::size_t point, OwnedWeights& weights) {
                             if (point >= on_grid)
                               return copy(*saves[point - on_grid], weights);
                             plan.plane.weights_at(plan.grid.point(point), team, weights);
                           }};
  std::optional<std::vector<LossSum>> scores = losses.run(source, set, observer);
  if (!scores) return std::nullopt;
  const std::span<const LossSum> of_saves = std::span(*scores).subspan(on_grid);
  Landscape landscape{.grid = plan.grid,
                      .scores = {scores->begin(), scores->end() - std::ssize(of_saves)},
                      .paths = paths_of(plan.plane, trajectories, of_saves),
                      .explained = plan.explained,
                      .plane_sha256 = plan.plane.sha256()};
  return landscape;
}

}  // namespace convoy
