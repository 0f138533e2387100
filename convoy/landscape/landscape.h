// SPDX-License-Identifier: Apache-2.0
//
// Landscape: the loss over a plane of weights, and the trajectories of runs in it. Start
// reading here.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "convoy/landscape/grid.h"
#include "convoy/landscape/point_losses.h"
#include "convoy/landscape/trajectory.h"

namespace convoy {

enum class Directions { pca, random };

struct LandscapeOptions {
  Directions directions = Directions::pca;
  std::size_t side = 25;  // points of the grid in each direction
  /// The grid is from -span to span. Default: around the trajectories (grid_around()),
  /// and 1 with random directions.
  std::optional<double> span{};
  std::uint64_t seed = 1;  // of random directions
};

/// A save, projected on the plane, with the loss of its own weights.
struct PathPoint {
  std::uint64_t step = 0;
  PlanePoint at;
  LossSum score;
};

/// The trajectory of a run.
struct LandscapePath {
  std::string name;
  std::filesystem::path run;
  std::vector<PathPoint> points;
};

struct Landscape {
  SquareGrid grid;
  std::vector<LossSum> scores;  // by the grid's numbers
  std::vector<LandscapePath> paths;
  std::optional<ExplainedVariance> explained;  // of principal components
  std::string plane_sha256;

  /// The number of the grid's point with the least loss; the first of equals. A loss that
  /// is not finite is not the least.
  std::size_t minimum() const;
};

/// A plane and the grid in it, before anything is evaluated.
struct LandscapePlan {
  Plane plane;
  SquareGrid grid;
  std::optional<ExplainedVariance> explained;
};

/// Throws InputError for saves that have no plane. Requires: at least one trajectory.
LandscapePlan plan_landscape(const LaidOutModel& model,
                             const std::vector<Trajectory>& trajectories,
                             const LandscapeOptions& options);

/// Evaluates the grid and the saves on all ranks, which get the same bits; nothing if a
/// rank was asked to stop. Throws PeerError.
std::optional<Landscape> evaluate_landscape(const LandscapePlan& plan,
                                            const std::vector<Trajectory>& trajectories,
                                            const EvaluationSet& set, PointLosses& losses,
                                            ThreadTeam& team,
                                            const PointObserver& observer);

}  // namespace convoy
