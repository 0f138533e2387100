// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include "convoy/base/text.h"
#include "convoy/landscape/landscape_files.h"

namespace convoy {
namespace {

ChartHead head_of(const Landscape& landscape, const LandscapeSubject& subject) {
  ChartHead head{
      .title = fmt::format("Loss of {} on {}", subject.model, subject.data),
      .note = fmt::format("{} {} samples", with_commas(subject.samples), subject.split)};
  if (landscape.explained) {
    const auto [first, second] = *landscape.explained;
    head.note += fmt::format(", {:.0f} % of the saves' variance in this plane",
                             100 * (first + second));
  }
  return head;
}

ChartAxis axis_of(const Landscape& landscape, std::size_t number) {
  const SquareGrid& grid = landscape.grid;
  std::string label = fmt::format("random direction {}", number + 1);
  if (landscape.explained) {
    label = fmt::format("principal component {} ({:.1f} %)", number + 1,
                        100 * landscape.explained->at(number));
  }
  return {.label = label, .low = grid.low, .high = grid.high};
}

ChartGrid grid_of(const Landscape& landscape) {
  ChartGrid grid{
      .x = landscape.grid.coordinates(), .y = landscape.grid.coordinates(), .values = {}};
  for (const LossSum& score : landscape.scores) grid.values.push_back(score.mean_loss());
  return grid;
}

ChartPath path_of(const LandscapePath& path) {
  ChartPath result{.name = path.name, .x = {}, .y = {}};
  for (const PathPoint& point : path.points) {
    result.x.push_back(point.at.x);
    result.y.push_back(point.at.y);
  }
  return result;
}

const ChartAxis kLoss{.label = "loss", .logarithmic = true};

}  // namespace

ContourChart contour_chart(const Landscape& landscape, const LandscapeSubject& subject) {
  const PlanePoint least = landscape.grid.point(landscape.minimum());
  ContourChart chart{.head = head_of(landscape, subject),
                     .x = axis_of(landscape, 0),
                     .y = axis_of(landscape, 1),
                     .value = kLoss,
                     .grid = grid_of(landscape),
                     .minimum = {{least.x, least.y}}};
  for (const LandscapePath& path : landscape.paths) chart.paths.push_back(path_of(path));
  return chart;
}

SurfaceChart surface_chart(const Landscape& landscape, const LandscapeSubject& subject) {
  return {.head = head_of(landscape, subject),
          .x = axis_of(landscape, 0),
          .y = axis_of(landscape, 1),
          .value = kLoss,
          .grid = grid_of(landscape)};
}

}  // namespace convoy
