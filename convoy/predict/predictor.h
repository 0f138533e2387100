// SPDX-License-Identifier: Apache-2.0
//
// Predictor: the most probable classes of images, by the model of a checkpoint.

#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "convoy/data/dataset.h"
#include "convoy/loader/normalization.h"
#include "convoy/network/network.h"
#include "convoy/params/flat_buffer.h"
#include "convoy/predict/given_images.h"
#include "convoy/settings/settings.h"
#include "convoy/setup/workload.h"
#include "convoy/system/thread_team.h"

namespace convoy {

struct RankedClass {
  std::size_t label = 0;
  double probability = 0;
};

/// What is said about one image.
struct ImagePrediction {
  std::string name{};
  std::vector<RankedClass> best{};  // the most probable first
  std::string fault{};              // why there are none; empty: there are
};

/// One thread may use it; it computes on as many as cluster.threads says.
class Predictor {
 public:
  /// Loads a checkpoint of a run with these settings. The run's dataset is opened if its
  /// classes are not known otherwise: those of files. Throws InputError.
  Predictor(const Settings& settings, const std::filesystem::path& checkpoint);

  const std::vector<std::string>& classes() const { return like_.classes; }

  /// Images of the run's kind, but for what they show.
  const Dataset& like() const { return like_; }

  /// Predicts the `most` most probable classes of each image. Images that cannot be
  /// decoded have a fault; others are not affected by them.
  std::vector<ImagePrediction> predict(GivenImages images, std::size_t most);

 private:
  void fill(const GivenImages& images, std::size_t first,
            std::vector<ImagePrediction>& batch);
  std::vector<RankedClass> best_of(std::size_t sample, std::size_t most);

  Dataset like_;
  LaidOutModel model_;
  FlatBuffer values_, statistics_;
  Normalization normalization_;
  ThreadTeam team_;
  std::size_t batch_size_;
  Network network_;
  std::vector<float> pixels_;
  std::vector<std::int32_t> labels_;
};

}  // namespace convoy
