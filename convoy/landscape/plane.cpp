// SPDX-License-Identifier: Apache-2.0

#include "convoy/landscape/plane.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace convoy {
namespace {

constexpr std::size_t kChunk = 16384;  // numbers that one task sets

struct Line {
  const float *origin, *u, *v;
};

void set_numbers(const Line& line, PlanePoint point, Range range, float* dst) {
  for (std::size_t i = range.begin; i < range.end; ++i) {
    dst[i] =
        static_cast<float>(line.origin[i] + point.x * line.u[i] + point.y * line.v[i]);
  }
}

void set_numbers(const Line& line, PlanePoint point, ThreadTeam& team, FlatBuffer& dst) {
  const std::size_t size = dst.size();
  team.run((size + kChunk - 1) / kChunk, [&](std::size_t chunk, int) {
    const std::size_t begin = chunk * kChunk;
    set_numbers(line, point, {begin, std::min(size, begin + kChunk)}, dst.data());
  });
}

double product(const FlatBuffer& a, const FlatBuffer& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += static_cast<double>(a.data()[i]) * b.data()[i];
  }
  return sum;
}

/// Returns the product of (values - origin) and a direction.
double product(const FlatBuffer& values, const FlatBuffer& origin,
               const FlatBuffer& direction) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum +=
        (static_cast<double>(values.data()[i]) - origin.data()[i]) * direction.data()[i];
  }
  return sum;
}

void clamp_variances(const Layout& layout, FlatBuffer& statistics) {
  for (const Segment& segment : layout.segments()) {
    if (segment.role != Role::variance) continue;
    for (float& number : statistics.view(segment.range)) number = std::max(number, 0.0f);
  }
}

}  // namespace

Plane::Plane(const LaidOutModel& model, OwnedWeights origin, OwnedWeights u,
             OwnedWeights v)
    : model_(model),
      origin_(std::move(origin)),
      u_(std::move(u)),
      v_(std::move(v)),
      uu_(product(u_.values, u_.values)),
      uv_(product(u_.values, v_.values)),
      vv_(product(v_.values, v_.values)) {}

void Plane::weights_at(PlanePoint point, ThreadTeam& team, OwnedWeights& weights) const {
  set_numbers({origin_.values.data(), u_.values.data(), v_.values.data()}, point, team,
              weights.values);
  set_numbers({origin_.statistics.data(), u_.statistics.data(), v_.statistics.data()},
              point, team, weights.statistics);
  clamp_variances(model_.statistics_layout, weights.statistics);
}

PlanePoint Plane::nearest(const FlatBuffer& values) const {
  const double along_u = product(values, origin_.values, u_.values);
  const double along_v = product(values, origin_.values, v_.values);
  const double determinant = uu_ * vv_ - uv_ * uv_;
  return {(along_u * vv_ - along_v * uv_) / determinant,
          (along_v * uu_ - along_u * uv_) / determinant};
}

std::string Plane::sha256() const {
  Sha256 digest;
  for (const OwnedWeights* weights : {&origin_, &u_, &v_}) {
    add_to_digest(model_.layout, weights->values, digest);
    add_to_digest(model_.statistics_layout, weights->statistics, digest);
  }
  return digest.hex();
}

}  // namespace convoy
