// SPDX-License-Identifier: Apache-2.0
//
// Plane: two directions through the weights of a network. A point (x, y) of it stands for
// the weights origin + x * u + y * v.
//
//   principal   through the mean of saved weights, along their first two principal
//               components: the plane that is nearest to all of them
//   random      through one network, along two random directions in which every filter is
//               as long as the network's own (Li et al., "Visualizing the Loss Landscape
//               of Neural Nets", 2018); biases and norms do not move
//
// Distances are those of parameters. Running statistics follow: they are the same linear
// combination of the saved statistics as the parameters are of the saved parameters.

#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "convoy/params/flat_buffer.h"
#include "convoy/setup/training_rig.h"
#include "convoy/system/thread_team.h"

namespace convoy {

/// The parameters and running statistics of a network.
struct OwnedWeights {
  explicit OwnedWeights(const LaidOutModel& model)
      : values(model.layout), statistics(model.statistics_layout) {}

  FlatBuffer values, statistics;
};

struct PlanePoint {
  double x = 0, y = 0;

  bool operator==(const PlanePoint&) const = default;
};

class Plane {
 public:
  /// Borrows the model. Requires: u and v are not parallel.
  Plane(const LaidOutModel& model, OwnedWeights origin, OwnedWeights u, OwnedWeights v);

  /// Sets the weights of a point. A variance is never below zero.
  void weights_at(PlanePoint point, ThreadTeam& team, OwnedWeights& weights) const;

  /// Returns the point of the plane that is nearest to the parameters.
  PlanePoint nearest(const FlatBuffer& values) const;

  /// SHA-256 of origin and directions.
  std::string sha256() const;

 private:
  const LaidOutModel& model_;
  OwnedWeights origin_, u_, v_;
  double uu_, uv_, vv_;  // products of the directions
};

/// The part of the saved weights' variance that each of the two directions has.
using ExplainedVariance = std::array<double, 2>;

struct PrincipalPlane {
  Plane plane;
  ExplainedVariance explained;
};

/// The plane of the first two principal components, whose directions have length one. The
/// save that is furthest along a direction lies on its positive side. The bits depend on
/// the saves alone. Throws InputError of kind `data` for fewer than three saves, numbers
/// that are not finite, and saves that lie on one line.
PrincipalPlane principal_plane(const LaidOutModel& model,
                               std::span<const OwnedWeights* const> saves);

Plane random_plane(const LaidOutModel& model, const OwnedWeights& centre,
                   std::uint64_t seed);

}  // namespace convoy
