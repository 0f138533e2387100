// SPDX-License-Identifier: Apache-2.0

#include "convoy/landscape/landscape_files.h"

#include <nlohmann/json.hpp>

#include "convoy/base/json.h"
#include "convoy/landscape/npy.h"

namespace convoy {
namespace {

using json = nlohmann::ordered_json;

void add_score(const LossSum& score, json& to) {
  to["loss"] = score.mean_loss();
  to["accuracy"] = score.accuracy();
}

json point_json(PlanePoint point, const LossSum& score) {
  json result = {{"x", point.x}, {"y", point.y}};
  add_score(score, result);
  return result;
}

json path_json(const LandscapePath& path) {
  json points = json::array();
  for (const PathPoint& one : path.points) {
    json& point = points.emplace_back(json{{"step", one.step}});
    point.update(point_json(one.at, one.score));
  }
  return {{"name", path.name}, {"run", path.run.string()}, {"saves", points}};
}

/// One list per row of the grid.
template <class Value>
json rows_json(const Landscape& landscape, const Value& value) {
  json rows = json::array();
  const std::size_t side = landscape.grid.side;
  for (std::size_t i = 0; i < landscape.scores.size(); ++i) {
    if (i % side == 0) rows.push_back(json::array());
    rows.back().push_back(value(landscape.scores[i]));
  }
  return rows;
}

json subject_json(const LandscapeSubject& subject) {
  json result = {{"model", subject.model},           {"data", subject.data},
                 {"split", subject.split},           {"samples", subject.samples},
                 {"directions", subject.directions}, {"batch_norm", subject.batch_norm}};
  if (subject.batch_norm_samples > 0) {
    result["batch_norm_samples"] = subject.batch_norm_samples;
  }
  return result;
}

}  // namespace

std::string landscape_json(const Landscape& landscape, const LandscapeSubject& subject) {
  json result = subject_json(subject);
  if (landscape.explained) result["explained_variance"] = *landscape.explained;
  result["plane_sha256"] = landscape.plane_sha256;
  const std::size_t least = landscape.minimum();
  result["minimum"] = point_json(landscape.grid.point(least), landscape.scores[least]);
  result["runs"] = json::array();
  for (const LandscapePath& path : landscape.paths) {
    result["runs"].push_back(path_json(path));
  }
  result["x"] = result["y"] = landscape.grid.coordinates();
  result["loss"] =
      rows_json(landscape, [](const LossSum& sum) { return sum.mean_loss(); });
  result["accuracy"] =
      rows_json(landscape, [](const LossSum& sum) { return sum.accuracy(); });
  return json_text(result, 1) + "\n";
}

std::string landscape_npy(const Landscape& landscape) {
  std::vector<std::vector<double>> rows(3);
  for (std::size_t i = 0; i < landscape.scores.size(); ++i) {
    const PlanePoint point = landscape.grid.point(i);
    rows[0].push_back(point.x);
    rows[1].push_back(point.y);
    rows[2].push_back(landscape.scores[i].mean_loss());
  }
  return npy_matrix(rows);
}

std::string trajectory_npy(const LandscapePath& path) {
  std::vector<std::vector<double>> rows(3);
  for (const PathPoint& point : path.points) {
    rows[0].push_back(point.at.x);
    rows[1].push_back(point.at.y);
    rows[2].push_back(point.score.mean_loss());
  }
  return npy_matrix(rows);
}

}  // namespace convoy
