// SPDX-License-Identifier: Apache-2.0
//
// Numbers by a formula that tools/make_fixtures.py repeats, and what PyTorch made of
// them.

#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "convoy/params/flat_buffer.h"
#include "convoy/params/layout.h"

namespace convoy {

/// Element `index` of made-up tensor number `seed`, in [-1, 1). As uniform() in the
/// script.
inline float torch_number(std::uint32_t index, std::uint32_t seed) {
  std::uint32_t x = index * 0x9E3779B1u + seed * 0x85EBCA77u;
  x = (x ^ x >> 16) * 0x7FEB352Du;
  x = (x ^ x >> 15) * 0x846CA68Bu;
  x ^= x >> 16;
  return static_cast<float>(x >> 8) * 0x1p-23f - 1.0f;
}

inline std::vector<float> torch_images(std::size_t count) {
  std::vector<float> images(count);
  for (std::uint32_t i = 0; i < count; ++i) images[i] = torch_number(i, 1000);
  return images;
}

inline std::vector<std::int32_t> torch_labels(std::size_t count) {
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < count; ++i) {
    labels.push_back(static_cast<std::int32_t>(i * 7 % 10));
  }
  return labels;
}

/// As fill() in the script.
inline void torch_fill(const Layout& layout, FlatBuffer& values) {
  float bound = 0;
  for (std::uint32_t number = 0; number < layout.segments().size(); ++number) {
    const Segment& segment = layout.segments()[number];
    if (segment.shape.size() > 1) {
      bound =
          1.0f / std::sqrt(static_cast<float>(segment.range.size() / segment.shape[0]));
    }
    std::uint32_t index = 0;
    const bool scale = segment.role == Role::norm_scale;
    for (float& value : values.view(segment.range)) {
      value = torch_number(index++, number + 1);
      value = scale ? 1 + value / 2 : value * bound;
    }
  }
}

inline double norm_of(std::span<const float> numbers) {
  double squares = 0;
  for (const float value : numbers) squares += static_cast<double>(value) * value;
  return std::sqrt(squares);
}

/// Holds numbers to what describe() of the script says of PyTorch's: their norm and some
/// of them, relative to the norm.
inline void expect_described(const nlohmann::json& expected, std::span<const float> found,
                             double tolerance, const std::string& name) {
  const double norm = expected["norm"];
  EXPECT_NEAR(norm_of(found), norm, tolerance * norm) << name;
  const double scale = norm / std::sqrt(static_cast<double>(found.size()));
  for (std::size_t i = 0; i < expected["elements"].size(); ++i) {
    const double element = expected["elements"][i];
    EXPECT_NEAR(found[i * expected["step"].get<std::size_t>()], element,
                tolerance * (scale + std::abs(element)))
        << name << ", sample " << i;
  }
}

}  // namespace convoy
