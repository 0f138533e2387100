// SPDX-License-Identifier: Apache-2.0
//
// A landscape as files: landscape.json, landscape.npy, trajectory-<n>.npy, and charts.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "convoy/landscape/landscape.h"
#include "convoy/plot/charts.h"

namespace convoy {

/// What was evaluated, for the files.
struct LandscapeSubject {
  std::string model, data, split;
  std::size_t samples = 0;
  std::string directions;              // "pca", "random"
  std::string batch_norm;              // "measure", "keep", or "none" of a model without
  std::size_t batch_norm_samples = 0;  // that statistics were measured over
};

/// Ends with a newline. A loss that is not finite is null.
std::string landscape_json(const Landscape& landscape, const LandscapeSubject& subject);

/// Three rows: x, y and loss of every point of the grid, x changing first.
std::string landscape_npy(const Landscape& landscape);

/// The same of the saves of a run.
std::string trajectory_npy(const LandscapePath& path);

ContourChart contour_chart(const Landscape& landscape, const LandscapeSubject& subject);
SurfaceChart surface_chart(const Landscape& landscape, const LandscapeSubject& subject);

}  // namespace convoy
