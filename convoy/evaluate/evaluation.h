// SPDX-License-Identifier: Apache-2.0
//
// Evaluation: a network's loss and predictions over a set, each sample exactly once; but
// samples whose files cannot be decoded are left out, if such files are skipped.
//
// A set is a sequence of batches. Their losses are added in that order, so the result
// does not depend on which rank evaluated which batch.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "convoy/data/dataset.h"
#include "convoy/loader/augmentation.h"
#include "convoy/loader/loader.h"
#include "convoy/loader/sample_images.h"
#include "convoy/network/network.h"
#include "convoy/report/classification.h"
#include "convoy/system/thread_team.h"

namespace convoy {

/// The prediction for one sample.
struct Prediction {
  std::uint32_t sample = 0;  // index in the dataset
  std::int32_t truth = 0, predicted = 0;
  float probability = 0;  // of the predicted class
};

struct EvaluationResult {
  LossSum sum;
  ConfusionMatrix matrix;
  std::vector<Prediction> predictions{};  // of all samples in order, if requested
  std::vector<LossSum> shares{};          // the sum per rank
  std::vector<LossSum> batches{};         // in batch order
  std::size_t left_out = 0;               // samples whose files cannot be decoded
};

/// The results of some of a set's batches.
struct EvaluationPart {
  std::vector<LossSum> batches;  // in batch order
  ConfusionMatrix matrix;
  std::vector<Prediction> predictions{};
};

/// Samples of a batch: 256, or fewer of large images or many classes, whose numbers would
/// take much memory.
std::size_t evaluation_batch_size(Shape image, std::size_t classes);

/// What is evaluated: samples of a dataset, normalised, in batches of a fixed size.
struct EvaluationSet {
  const Dataset& data;
  std::vector<std::uint32_t> samples;
  Normalization normalization;
  /// The model's input, to which images are resized; none: as the dataset has them.
  std::optional<Shape> image{};

  Shape input() const { return image.value_or(data.shape); }
  std::size_t batch_size() const {
    return evaluation_batch_size(input(), data.classes.size());
  }
  std::size_t batches() const;
  /// Returns the samples of some of the batches, as indices into the set.
  Range samples_of(Range of_batches) const;
};

/// Counts the samples of a set that were left out. Throws InputError if all were.
void count_left_out(const EvaluationSet& set, EvaluationResult& result);

/// Returns all samples of a dataset.
EvaluationSet all_of(const Dataset& data, const Normalization& normalization);

/// A view of an image, and its weight.
struct WeightedView {
  View view;
  double weight = 1;
};

struct EvaluationOptions {
  bool flip = false;  // average the logits of each image and its mirror image
  /// 0: off; otherwise two views, shifted by that many pixels along the diagonal in both
  /// directions, count a quarter each.
  int shift = 0;
  bool predictions = false;  // keep the prediction of each sample
  /// Network options; the evaluator sets the batch size itself.
  NetworkOptions network{};
};

class Evaluator {
 public:
  /// Borrows everything but the options for as long as it lives.
  Evaluator(const Model& model, const Layout& layout, const EvaluationOptions& options,
            ThreadTeam& team);

  /// Requires: the set's input and classes are the model's.
  /// Throws InputError for a file that cannot be decoded, or if all are left out.
  EvaluationResult run(const EvaluationSet& set, const Weights& weights);

  /// Evaluates only some of the set's batches, by number.
  EvaluationPart run_part(const EvaluationSet& set, Range batches,
                          const Weights& weights) {
    PassListener nobody;
    return run_part(set, batches, weights, nobody, batches.size());
  }
  /// As above, for values that the listener makes whole, unit by unit, on all ranks
  /// together: each rank has passes as for `most_batches`, without samples after its own.
  EvaluationPart run_part(const EvaluationSet& set, Range batches, const Weights& weights,
                          PassListener& listener, std::size_t most_batches);

  bool keeps_predictions() const { return keep_predictions_; }
  std::size_t bytes() const;

 private:
  /// What passes read.
  struct Values {
    const FlatBuffer& numbers;
    PassListener& listener;
  };

  void run_batches(const EvaluationSet& set, Range batches, const Values& values,
                   EvaluationPart& part);
  LossSum plain(const Batch& batch, const Values& values);
  LossSum mean_of_views(const Batch& batch, SampleImages& images, const Values& values);
  void add_logits(std::size_t samples, double factor);
  std::span<const double> logits_of(std::size_t sample) const;
  void note(const Batch& batch, EvaluationPart& part) const;

  FlatBuffer statistics_;  // copy of the statistics in use, for the network
  Shape image_;
  std::size_t classes_, batch_size_;
  Network network_;
  std::vector<WeightedView> views_;
  bool keep_predictions_;
  std::vector<float> seen_;                // a batch of images in one view
  std::vector<double> logits_;             // [sample][class], of the last batch
  std::vector<std::int32_t> predictions_;  // by sample, of the last batch
};

}  // namespace convoy
