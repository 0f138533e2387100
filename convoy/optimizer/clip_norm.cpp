// SPDX-License-Identifier: Apache-2.0

#include "convoy/optimizer/clip_norm.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "convoy/optimizer/sum_of_squares.h"

namespace convoy {
namespace {

constexpr double kEpsilon = 1e-6;  // PyTorch's

}  // namespace

ClipNorm::ClipNorm(const Layout& layout, const ClipOptions& options, ThreadTeam& team)
    : longest_(options.longest),
      counted_(layout, {}),
      size_(layout.size()),
      sums_((layout.size() + kOptimizerChunk - 1) / kOptimizerChunk),
      team_(team) {}

float ClipNorm::scale(std::span<const float> gradients, double times) {
  add_up({0, sums_.size()}, gradients);
  return finish(times);
}

void ClipNorm::add_up(Range chunks, std::span<const float> gradients) {
  const Range range = {chunks.begin * kOptimizerChunk,
                       std::min(chunks.end * kOptimizerChunk, size_)};
  run_chunks(team_, range, [&](Range chunk) {
    double sum = 0;
    counted_.visit(chunk, [&](Range part, const GroupOptions&) {
      sum += sum_of_squares(gradients.subspan(part.begin, part.size()));
    });
    sums_[chunk.begin / kOptimizerChunk] = sum;
  });
}

float ClipNorm::finish(double times) {
  norm_ = std::sqrt(std::accumulate(sums_.begin(), sums_.end(), 0.0)) / times;
  return static_cast<float>(std::min(1.0, longest_ / (norm_ + kEpsilon)));
}

}  // namespace convoy
