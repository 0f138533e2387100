// SPDX-License-Identifier: Apache-2.0
//
// DoubleModel: a model's loss in double precision, one sample and one layer after the
// other, as one would write it on paper. Differences of it are what gradients are held
// to.

#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "convoy/network/model.h"
#include "convoy/network/network.h"

namespace convoy {

class DoubleModel {
 public:
  DoubleModel(const Model& model, const Layout& layout, const FlatBuffer& values)
      : values(values.data(), values.data() + values.size()),
        model_(model),
        layout_(layout) {}

  /// What dropout layer number `layer` multiplies with: [sample][feature].
  void set_dropout(std::size_t layer, std::vector<double> factors) {
    factors_[layer] = std::move(factors);
  }

  /// What the last layer gives for one sample.
  std::vector<double> logits(const Samples& samples, std::size_t sample) const {
    const Samples one = samples.part({sample, sample + 1});
    Image image = {model_.input, {one.images.begin(), one.images.end()}};
    std::size_t segment = 0;
    for (std::size_t i = 0; i < model_.layers.size(); ++i) {
      const Layer& layer = model_.layers[i];
      if (const auto* convolution = std::get_if<Convolution>(&layer)) {
        image = convolve(*convolution, image, segment);
        segment += 2;
      } else if (const auto* linear = std::get_if<Linear>(&layer)) {
        image = multiply(*linear, image, segment);
        segment += 2;
      } else if (const auto* pool = std::get_if<MaxPool>(&layer)) {
        image = pool_largest(*pool, image);
      } else if (std::holds_alternative<Relu>(layer)) {
        for (double& value : image.values) value = std::max(0.0, value);
      } else if (std::holds_alternative<Dropout>(layer)) {
        const std::size_t first = sample * image.values.size();
        for (std::size_t f = 0; f < image.values.size(); ++f) {
          image.values[f] *= factors_.at(i)[first + f];
        }
      }
    }
    return image.values;
  }

  /// The sum of the samples' losses.
  double loss(const Samples& samples) const {
    double sum = 0;
    for (std::size_t n = 0; n < samples.count(); ++n) {
      const std::vector<double> logits = this->logits(samples, n);
      double exponentials = 0;
      for (const double logit : logits) exponentials += std::exp(logit);
      sum += std::log(exponentials) - logits[static_cast<std::size_t>(samples.labels[n])];
    }
    return sum;
  }

  /// d(loss) / d(values[index]), by central differences.
  double derivative(const Samples& samples, std::size_t index) {
    constexpr double kStep = 1e-6;
    const double before = values[index];
    values[index] = before + kStep;
    const double above = loss(samples);
    values[index] = before - kStep;
    const double below = loss(samples);
    values[index] = before;
    return (above - below) / (2 * kStep);
  }

  std::vector<double> values;  // in the layout's order

 private:
  struct Image {
    Shape shape;
    std::vector<double> values;

    double& at(int c, int y, int x) { return values[index(c, y, x)]; }
    double at(int c, int y, int x) const { return values[index(c, y, x)]; }
    bool has(int y, int x) const {
      return y >= 0 && y < shape.height && x >= 0 && x < shape.width;
    }
    std::size_t index(int c, int y, int x) const {
      return (static_cast<std::size_t>(c) * shape.height + y) * shape.width + x;
    }
  };

  static Image blank(Shape shape) { return {shape, std::vector<double>(shape.size())}; }

  const double* of_segment(std::size_t id) const {
    return values.data() + layout_.segments()[id].range.begin;
  }

  Image convolve(const Convolution& layer, const Image& src, std::size_t segment) const {
    const int frame = 2 * layer.padding - layer.kernel;
    Image dst = blank({layer.channels, (src.shape.height + frame) / layer.step + 1,
                       (src.shape.width + frame) / layer.step + 1});
    for (int k = 0; k < dst.shape.channels; ++k) {
      for (int y = 0; y < dst.shape.height; ++y) {
        for (int x = 0; x < dst.shape.width; ++x) {
          const double* weight = of_segment(segment) + static_cast<std::size_t>(k) *
                                                           src.shape.channels *
                                                           layer.kernel * layer.kernel;
          double sum = of_segment(segment + 1)[k];
          for (int c = 0; c < src.shape.channels; ++c) {
            for (int r = 0; r < layer.kernel; ++r) {
              for (int s = 0; s < layer.kernel; ++s, ++weight) {
                const int from_y = y * layer.step - layer.padding + r;
                const int from_x = x * layer.step - layer.padding + s;
                if (src.has(from_y, from_x)) sum += *weight * src.at(c, from_y, from_x);
              }
            }
          }
          dst.at(k, y, x) = sum;
        }
      }
    }
    return dst;
  }

  Image multiply(const Linear& layer, const Image& src, std::size_t segment) const {
    Image dst = blank({layer.features, 1, 1});
    const double* weight = of_segment(segment);
    for (int o = 0; o < layer.features; ++o) {
      double sum = of_segment(segment + 1)[o];
      for (const double value : src.values) sum += *weight++ * value;
      dst.at(o, 0, 0) = sum;
    }
    return dst;
  }

  static Image pool_largest(const MaxPool& layer, const Image& src) {
    const int step = layer.step == 0 ? layer.window : layer.step;
    Image dst = blank({src.shape.channels, (src.shape.height - layer.window) / step + 1,
                       (src.shape.width - layer.window) / step + 1});
    for (int c = 0; c < dst.shape.channels; ++c) {
      for (int y = 0; y < dst.shape.height; ++y) {
        for (int x = 0; x < dst.shape.width; ++x) {
          double largest = src.at(c, y * step, x * step);
          for (int i = 0; i < layer.window * layer.window; ++i) {
            largest = std::max(largest, src.at(c, y * step + i / layer.window,
                                               x * step + i % layer.window));
          }
          dst.at(c, y, x) = largest;
        }
      }
    }
    return dst;
  }

  const Model& model_;
  const Layout& layout_;
  std::map<std::size_t, std::vector<double>> factors_;
};

}  // namespace convoy
