// SPDX-License-Identifier: Apache-2.0

#include "convoy/plot/contour_labels.h"

#include <algorithm>
#include <cmath>

namespace convoy {
namespace {

constexpr double kLeastRoom = 0.06;  // of the chart's side

/// A place on the chart, from 0 to 1.
struct Place {
  double x, y;
};

double distance(const Place& a, const Place& b) {
  return std::hypot(a.x - b.x, a.y - b.y);
}

/// From places on the chart to the grid's coordinates and back.
class PlaneScale {
 public:
  explicit PlaneScale(const ChartGrid& grid)
      : left_(grid.x.front()),
        low_(grid.y.front()),
        width_(grid.x.back() - left_),
        height_(grid.y.back() - low_) {}

  Place place(double x, double y) const {
    return {(x - left_) / width_, (y - low_) / height_};
  }
  ContourLabel label(const Place& place, double level) const {
    return {left_ + place.x * width_, low_ + place.y * height_, level};
  }

 private:
  double left_, low_, width_, height_;
};

/// Where the line of `level` crosses the edges between neighbours of the grid.
class Crossings {
 public:
  Crossings(const ChartGrid& grid, double level) : grid_(grid), level_(level) {}

  std::vector<Place> all(const PlaneScale& scale) {
    const std::size_t columns = grid_.x.size(), rows = grid_.y.size();
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t column = 0; column < columns; ++column) {
        if (column + 1 < columns) add(row, column, row, column + 1, scale);
        if (row + 1 < rows) add(row, column, row + 1, column, scale);
      }
    }
    return std::move(found_);
  }

 private:
  void add(std::size_t row, std::size_t column, std::size_t next_row,
           std::size_t next_column, const PlaneScale& scale) {
    const double here = grid_.values[row * grid_.x.size() + column] - level_;
    const double there = grid_.values[next_row * grid_.x.size() + next_column] - level_;
    if (!(here * there < 0) || !std::isfinite(here * there)) return;
    const double t = here / (here - there);
    found_.push_back(scale.place(std::lerp(grid_.x[column], grid_.x[next_column], t),
                                 std::lerp(grid_.y[row], grid_.y[next_row], t)));
  }

  const ChartGrid& grid_;
  double level_;
  std::vector<Place> found_;
};

std::vector<Place> places_of(std::span<const ChartPath> paths, const PlaneScale& scale) {
  std::vector<Place> places;
  for (const ChartPath& path : paths) {
    for (std::size_t i = 0; i < path.x.size(); ++i) {
      places.push_back(scale.place(path.x[i], path.y[i]));
    }
  }
  return places;
}

/// The distance to the nearest edge or obstacle. A point of a path needs half the room of
/// another label.
double room_at(const Place& place, const std::vector<Place>& labels,
               const std::vector<Place>& points) {
  double room = 2 * std::min({place.x, place.y, 1 - place.x, 1 - place.y});
  for (const Place& label : labels) room = std::min(room, distance(place, label));
  for (const Place& point : points) room = std::min(room, 2 * distance(place, point));
  return room;
}

}  // namespace

std::vector<ContourLabel> contour_labels(const ChartGrid& grid,
                                         std::span<const double> levels,
                                         std::span<const ChartPath> paths) {
  const PlaneScale scale(grid);
  const std::vector<Place> points = places_of(paths, scale);
  std::vector<Place> placed;
  std::vector<ContourLabel> labels;
  for (const double level : levels) {
    double best = kLeastRoom;
    const std::vector<Place> crossings = Crossings(grid, level).all(scale);
    const Place* chosen = nullptr;
    for (const Place& place : crossings) {
      const double room = room_at(place, placed, points);
      if (room > best) best = room, chosen = &place;
    }
    if (chosen == nullptr) continue;
    placed.push_back(*chosen);
    labels.push_back(scale.label(*chosen, level));
  }
  return labels;
}

}  // namespace convoy
