// SPDX-License-Identifier: Apache-2.0
//
// What each layer computes, in double precision, as one would write it on paper. The test
// file of a layer registers it; finite differences of it are what gradients are compared
// with.

#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "convoy/network/layer.h"

namespace convoy {

/// An activation: [sample][row][channel][y][x].
struct DoubleBatch {
  DoubleBatch(Shape shape, std::size_t samples)
      : shape(shape), samples(samples), values(samples * shape.size()) {}

  std::size_t rows() const { return samples * static_cast<std::size_t>(shape.rows); }
  /// `row` counts over all samples.
  std::size_t index(std::size_t row, int c, int y = 0, int x = 0) const {
    return ((row * static_cast<std::size_t>(shape.channels) +
             static_cast<std::size_t>(c)) *
                static_cast<std::size_t>(shape.height) +
            static_cast<std::size_t>(y)) *
               static_cast<std::size_t>(shape.width) +
           static_cast<std::size_t>(x);
  }
  double& at(std::size_t row, int c, int y = 0, int x = 0) {
    return values[index(row, c, y, x)];
  }
  double at(std::size_t row, int c, int y = 0, int x = 0) const {
    return values[index(row, c, y, x)];
  }
  bool has(int y, int x) const {
    return y >= 0 && y < shape.height && x >= 0 && x < shape.width;
  }

  Shape shape;
  std::size_t samples;
  std::vector<double> values;
};

struct DoubleArguments {
  std::vector<DoubleBatch> src;
  std::vector<const double*> parameters;  // as the layer lists them
  Shape dst;
  /// What a layer that draws random numbers makes of ones, under the key of the test.
  std::vector<double> drawn{};
  /// That key, and the number of the stage under test.
  RngKey key{};
  std::uint32_t number = 0;

  const DoubleBatch& first() const { return src.front(); }
  std::size_t samples() const { return first().samples; }
};

using DoubleForward = std::function<DoubleBatch(const Layer&, const DoubleArguments&)>;

/// By the kind's name.
inline std::map<std::string, DoubleForward>& double_layers() {
  static std::map<std::string, DoubleForward> all;
  return all;
}

/// Registers what layers with such options compute.
template <class Options>
struct DoubleLayer {
  template <class Forward>
  DoubleLayer(const char* kind, Forward forward) {
    double_layers()[kind] = [forward](const Layer& layer, const DoubleArguments& of) {
      return forward(layer.get<Options>(), of);
    };
  }
};

/// A function of each number alone.
template <class Options, class Function>
DoubleLayer<Options> elementwise(const char* kind, Function function) {
  return {kind, [function](const Options& options, const DoubleArguments& of) {
            DoubleBatch result = of.first();
            for (double& value : result.values) value = function(options, value);
            return result;
          }};
}

}  // namespace convoy
