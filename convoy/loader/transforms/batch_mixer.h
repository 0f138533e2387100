// SPDX-License-Identifier: Apache-2.0
//
// BatchMixer: mixes the samples of a batch that a rank prepares (batch_mix.h).

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "convoy/base/range.h"
#include "convoy/base/shape.h"
#include "convoy/loader/transforms/batch_mix.h"

namespace convoy {

/// Some samples of a batch: runs of neighbours, then for each run the sample before it.
struct BatchPart {
  std::span<const Range> runs;     // of samples of this part
  std::span<float> images;         // [sample][channel][row][column]
  std::span<std::int32_t> labels;  // [sample]
  std::span<float> distributions;  // [sample of the runs][class]
};

class BatchMixer {
 public:
  /// Of batches of the order of a worker.
  struct Key {
    std::uint64_t seed = 1;
    std::uint32_t worker = 0;
  };

  BatchMixer(const MixOptions& options, Shape shape, std::size_t classes, Key key)
      : options_(options), shape_(shape), classes_(classes), key_(key) {}

  bool is_on() const { return options_.is_on(); }
  /// Numbers of a distribution; 0 if samples are not mixed.
  std::size_t distribution_size() const { return is_on() ? classes_ : 0; }

  BatchMix mix_of(int epoch, std::size_t batch) const;

  /// Mixes the samples of the runs. Labels become the classes that have the largest
  /// numbers of their distributions.
  void mix(int epoch, std::size_t batch, const BatchPart& part) const;

 private:
  MixOptions options_;
  Shape shape_;
  std::size_t classes_;
  Key key_;
};

}  // namespace convoy
