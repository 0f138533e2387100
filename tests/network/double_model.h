// SPDX-License-Identifier: Apache-2.0
//
// DoubleModel: a model's loss in double precision, one layer after the other, as one
// would write it on paper. Differences of it are what gradients are held
// to.

#pragma once

#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "convoy/network/model.h"
#include "convoy/network/network.h"
#include "tests/network/double_layer.h"

namespace convoy {

class DoubleModel {
 public:
  DoubleModel(const Model& model, const Layout& layout, const FlatBuffer& values)
      : values(values.data(), values.data() + values.size()),
        input_(model.input),
        infos_(describe(model)),
        layout_(layout) {}

  /// What the dropout layer number `layer` multiplies with: [sample][feature].
  void set_dropout(std::size_t layer, std::vector<double> factors) {
    drawn_[layer] = std::move(factors);
  }

  /// What the last layer gives, sample by sample.
  std::vector<std::vector<double>> logits(const Samples& samples) const {
    std::vector<DoubleBatch> results;
    for (std::size_t i = 0; i < infos_.size(); ++i) {
      results.push_back(double_layers().at(infos_[i].kind)(
          infos_[i].layer, arguments(i, samples, results)));
    }
    const std::vector<double>& all = results.back().values;
    const auto classes = static_cast<std::ptrdiff_t>(results.back().shape.size());
    std::vector<std::vector<double>> logits;
    for (auto at = all.begin(); at != all.end(); at += classes) {
      logits.emplace_back(at, at + classes);
    }
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
  DoubleArguments arguments(std::size_t layer, const Samples& samples,
                            const std::vector<DoubleBatch>& results) const {
    const LayerInfo& info = infos_[layer];
    DoubleArguments all{.src = {}, .parameters = {}, .dst = info.dst()};
    for (const LayerIndex source : info.sources) {
      all.src.push_back(source == kModelInput
                            ? input(samples)
                            : results[static_cast<std::size_t>(source)]);
    }
    for (const TensorSpec& tensor : info.description.parameters) {
      const Range range = layout_.segment(layout_.find(tensor.name).value()).range;
      all.parameters.push_back(values.data() + range.begin);
    }
    const auto drawn = drawn_.find(layer);
    if (drawn != drawn_.end()) all.drawn = drawn->second;
    return all;
  }

  DoubleBatch input(const Samples& samples) const {
    DoubleBatch batch(input_, samples.count());
    batch.values.assign(samples.inputs.begin(), samples.inputs.end());
    return batch;
  }

  Shape input_;
  std::vector<LayerInfo> infos_;
  const Layout& layout_;
  std::map<std::size_t, std::vector<double>> drawn_;
};

}  // namespace convoy
