// SPDX-License-Identifier: Apache-2.0
//
// DoubleModel: a model's loss in double precision, one layer after the other, as one
// would write it on paper. Differences of it are what gradients are held
// to.

#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
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
        input_(model.input),
        infos_(describe(model)),
        layout_(layout) {}

  /// What dropout layer number `layer` multiplies with: [sample][feature].
  void set_dropout(std::size_t layer, std::vector<double> factors) {
    factors_[layer] = std::move(factors);
  }

  /// What the last layer gives, sample by sample.
  std::vector<std::vector<double>> logits(const Samples& samples) const {
    std::vector<Batch> results;
    for (std::size_t i = 0; i < infos_.size(); ++i) {
      const auto result_of = [&](LayerIndex layer) {
        return layer == kModelInput ? input(samples)
                                    : results[static_cast<std::size_t>(layer)];
      };
      Batch batch = result_of(infos_[i].source);
      apply(i, batch);
      if (std::holds_alternative<Add>(infos_[i].layer)) {
        add(result_of(infos_[i].other), batch);
      }
      results.push_back(std::move(batch));
    }
    std::vector<std::vector<double>> logits;
    for (const Image& image : results.back()) logits.push_back(image.values);
    return logits;
  }

  /// The sum of the samples' losses.
  double loss(const Samples& samples) const {
    double sum = 0;
    const auto all = logits(samples);
    for (std::size_t n = 0; n < samples.count(); ++n) {
      double exponentials = 0;
      for (const double logit : all[n]) exponentials += std::exp(logit);
      sum += std::log(exponentials) - all[n][static_cast<std::size_t>(samples.labels[n])];
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

  using Batch = std::vector<Image>;

  Batch input(const Samples& samples) const {
    Batch batch;
    for (std::size_t n = 0; n < samples.count(); ++n) {
      const Samples one = samples.part({n, n + 1});
      batch.push_back({input_, {one.images.begin(), one.images.end()}});
    }
    return batch;
  }

  void apply(std::size_t number, Batch& batch) const {
    const LayerInfo& info = infos_[number];
    if (std::holds_alternative<BatchNorm>(info.layer)) normalize(info.name, batch);
    for (std::size_t n = 0; n < batch.size(); ++n) {
      Image& image = batch[n];
      if (const auto* convolution = std::get_if<Convolution>(&info.layer)) {
        image = convolve(*convolution, image);
      } else if (const auto* linear = std::get_if<Linear>(&info.layer)) {
        image = multiply(*linear, image);
      } else if (const auto* largest = std::get_if<MaxPool>(&info.layer)) {
        image = pool_largest(*largest, info.dst, image);
      } else if (const auto* mean = std::get_if<AveragePool>(&info.layer)) {
        image = pool_mean(pool_window(*mean, info.src), info.dst, image);
      } else if (std::holds_alternative<Relu>(info.layer)) {
        for (double& value : image.values) value = std::max(0.0, value);
      } else if (std::holds_alternative<Gelu>(info.layer)) {
        for (double& value : image.values)
          value *= 0.5 * std::erfc(-value / std::sqrt(2.0));
      } else if (std::holds_alternative<Dropout>(info.layer)) {
        for (std::size_t f = 0; f < image.values.size(); ++f) {
          image.values[f] *= factors_.at(number)[n * image.values.size() + f];
        }
      }
    }
  }

  static void add(const Batch& other, Batch& batch) {
    for (std::size_t n = 0; n < batch.size(); ++n) {
      for (std::size_t f = 0; f < batch[n].values.size(); ++f) {
        batch[n].values[f] += other[n].values[f];
      }
    }
  }

  void normalize(const std::string& name, Batch& batch) const {
    const std::size_t pixels = batch[0].shape.pixels();
    const auto count = static_cast<double>(batch.size() * pixels);
    for (int c = 0; c < batch[0].shape.channels; ++c) {
      double sum = 0, squares = 0;
      const auto for_all = [&](const auto& work) {
        for (Image& image : batch) {
          for (std::size_t i = 0; i < pixels; ++i) work(image.values[c * pixels + i]);
        }
      };
      for_all([&](double value) { sum += value; });
      const double mean = sum / count;
      for_all([&](double value) { squares += (value - mean) * (value - mean); });
      const double scale =
          of(name + ".weight")[c] / std::sqrt(squares / count + kNormEpsilon);
      const double shift = of(name + ".bias")[c];
      for_all([&](double& value) { value = (value - mean) * scale + shift; });
    }
  }

  static Image blank(Shape shape) { return {shape, std::vector<double>(shape.size())}; }

  /// The values of a segment.
  const double* of(const std::string& name) const {
    return values.data() + layout_.segment(*layout_.find(name)).range.begin;
  }

  Image convolve(const Convolution& layer, const Image& src) const {
    const int frame = 2 * layer.padding - layer.kernel;
    const double* weights = of(layer.name + ".weight");
    Image dst = blank({layer.channels, (src.shape.height + frame) / layer.stride + 1,
                       (src.shape.width + frame) / layer.stride + 1});
    for (int k = 0; k < dst.shape.channels; ++k) {
      for (int y = 0; y < dst.shape.height; ++y) {
        for (int x = 0; x < dst.shape.width; ++x) {
          const double* weight = weights + static_cast<std::size_t>(k) *
                                               src.shape.channels * layer.kernel *
                                               layer.kernel;
          double sum = layer.bias ? of(layer.name + ".bias")[k] : 0;
          for (int c = 0; c < src.shape.channels; ++c) {
            for (int r = 0; r < layer.kernel; ++r) {
              for (int s = 0; s < layer.kernel; ++s, ++weight) {
                const int from_y = y * layer.stride - layer.padding + r;
                const int from_x = x * layer.stride - layer.padding + s;
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

  Image multiply(const Linear& layer, const Image& src) const {
    Image dst = blank({layer.features, 1, 1});
    const double* weight = of(layer.name + ".weight");
    for (int o = 0; o < layer.features; ++o) {
      double sum = of(layer.name + ".bias")[o];
      for (const double value : src.values) sum += *weight++ * value;
      dst.at(o, 0, 0) = sum;
    }
    return dst;
  }

  static Image pool_largest(const MaxPool& layer, Shape shape, const Image& src) {
    const int stride = layer.stride == 0 ? layer.window : layer.stride;
    Image dst = blank(shape);
    for (int c = 0; c < shape.channels; ++c) {
      for (int y = 0; y < shape.height; ++y) {
        for (int x = 0; x < shape.width; ++x) {
          double largest = -std::numeric_limits<double>::infinity();
          for (int i = 0; i < layer.window * layer.window; ++i) {
            const int from_y = y * stride - layer.padding + i / layer.window;
            const int from_x = x * stride - layer.padding + i % layer.window;
            if (src.has(from_y, from_x))
              largest = std::max(largest, src.at(c, from_y, from_x));
          }
          dst.at(c, y, x) = largest;
        }
      }
    }
    return dst;
  }

  static Image pool_mean(Shape window, Shape shape, const Image& src) {
    Image dst = blank(shape);
    const auto count = static_cast<double>(window.pixels());
    for (int c = 0; c < shape.channels; ++c) {
      for (int y = 0; y < shape.height * window.height; ++y) {
        for (int x = 0; x < shape.width * window.width; ++x) {
          dst.at(c, y / window.height, x / window.width) += src.at(c, y, x) / count;
        }
      }
    }
    return dst;
  }

  Shape input_;
  std::vector<LayerInfo> infos_;
  const Layout& layout_;
  std::map<std::size_t, std::vector<double>> factors_;
};

}  // namespace convoy
