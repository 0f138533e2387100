// SPDX-License-Identifier: Apache-2.0

#include "convoy/predict/predictor.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/checkpoint/checkpoint.h"
#include "convoy/data/catalog.h"
#include "convoy/evaluate/evaluation.h"
#include "convoy/loader/sample_images.h"
#include "convoy/models/models.h"
#include "convoy/system/tasks/parallel_tasks.h"

namespace convoy {
namespace {

/// Shape and classes of a run's images; without them if they are known from the dataset's
/// name.
Dataset images_like(const Settings& settings) {
  const DataSource& source = find_source(settings.data.name);
  if (!source.is_of_files() && !source.forms.empty()) {
    return {.name = source.name, .shape = source.shape, .classes = source.classes};
  }
  return load_data_pair(settings).train;
}

LaidOutModel model_of(const Settings& settings, const Dataset& like) {
  return lay_out(make_model(settings.model.name, input_shape(settings, like),
                            static_cast<int>(like.classes.size())));
}

NetworkOptions predicting(const Settings& settings, std::size_t batch_size,
                          const FlatBuffer& statistics) {
  NetworkOptions options = network_options(settings, batch_size);
  options.training = false;
  options.label_smoothing = 0;
  options.statistics = &statistics;
  return options;
}

}  // namespace

Predictor::Predictor(const Settings& settings, const std::filesystem::path& checkpoint)
    : like_(images_like(settings)),
      model_(model_of(settings, like_)),
      values_(model_.layout),
      statistics_(model_.statistics_layout),
      normalization_(
          load_checkpoint(checkpoint, {{model_.layout, values_},
                                       {model_.statistics_layout, statistics_}})
              .normalization),
      team_(thread_count(settings)),
      batch_size_(evaluation_batch_size(model_.model.input, like_.classes.size())),
      network_(model_.model, model_.layout,
               predicting(settings, batch_size_, statistics_), team_),
      pixels_(batch_size_ * model_.model.input.size()),
      labels_(batch_size_) {}

/// Decodes the images of a batch, in parallel.
void Predictor::fill(const GivenImages& images, std::size_t first,
                     std::vector<ImagePrediction>& batch) {
  const auto threads = static_cast<std::size_t>(team_.threads());
  const Shape input = model_.model.input;
  std::vector<SampleImages> writers(threads,
                                    SampleImages(images.data, normalization_, input));
  run_in_parallel(batch.size(), threads, [&](std::size_t i, std::size_t thread) {
    batch[i].name = images.names[first + i];
    batch[i].fault = images.faults[first + i];
    float* dst = &pixels_[i * input.size()];
    try {
      if (batch[i].fault.empty()) writers[thread].write(first + i, View{}, dst);
    } catch (const InputError& error) {
      batch[i].fault = error.what();
    }
    if (!batch[i].fault.empty()) std::fill_n(dst, input.size(), 0.0F);
  });
}

/// The softmax of a sample's largest logits; of equals, the first.
std::vector<RankedClass> Predictor::best_of(std::size_t sample, std::size_t most) {
  std::vector<RankedClass> all(like_.classes.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = {i, network_.logit(sample, i)};
  const double largest = std::ranges::max(all, {}, &RankedClass::probability).probability;
  double sum = 0;
  for (RankedClass& of : all) sum += of.probability = std::exp(of.probability - largest);
  for (RankedClass& of : all) of.probability /= sum;
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(most, all.size()));
  std::ranges::partial_sort(all, end, [](const RankedClass& a, const RankedClass& b) {
    return a.probability > b.probability ||
           (a.probability == b.probability && a.label < b.label);
  });
  return {all.begin(), end};
}

std::vector<ImagePrediction> Predictor::predict(GivenImages images, std::size_t most) {
  std::vector<ImagePrediction> predictions;
  for (std::size_t first = 0; first < images.data.size(); first += batch_size_) {
    std::vector<ImagePrediction> batch(std::min(batch_size_, images.data.size() - first));
    fill(images, first, batch);
    PassListener nobody;
    const std::size_t numbers = batch.size() * model_.model.input.size();
    network_.forward(
        {std::span(pixels_).first(numbers), std::span(labels_).first(batch.size())},
        values_, {}, nobody);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (batch[i].fault.empty()) batch[i].best = best_of(i, most);
      predictions.push_back(std::move(batch[i]));
    }
  }
  return predictions;
}

}  // namespace convoy
