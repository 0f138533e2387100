// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/pointwise/taps_gradient.h"

#include <algorithm>

#include "convoy/network/kernels/point/lanes.h"
#include "convoy/network/winograd_sizes.h"

namespace convoy {
namespace {

// The most channels of a part: enough that gathering them costs little beside
// multiplying.
constexpr int kMostLeft = 128, kMostRight = 128;
// What is gathered at a time: it stays in the second-level cache.
constexpr std::size_t kBlockFloats = std::size_t{48} << 10;
constexpr std::size_t kSquare = std::size_t{kPack} * kPack;

std::size_t pixels_at_a_time(std::size_t left, std::size_t right) {
  const std::size_t pixel = Gathered::pixel_floats(left) + Gathered::pixel_floats(right) +
                            round_up(right, kPack) * kPack;
  const std::size_t fit = kBlockFloats / pixel / kPixelsAChain * kPixelsAChain;
  return std::clamp(fit, kPixelsAChain, kMostPixelsAtATime);
}

}  // namespace

TapsGradient::TapsGradient(const WinogradPlan& plan, Shape src, Shape dst, bool whole)
    : plan_(plan),
      src_(src),
      dst_(dst),
      left_parts_(left_shape().channels, whole ? left_shape().channels : kMostLeft),
      right_parts_(static_cast<int>(block_count(right_shape().channels)),
                   whole ? right_shape().channels : kMostRight / kPack) {
  const Part largest = part(0);
  pixels_ = pixels_at_a_time(largest.left.size(), largest.right.size());
}

TapsGradient::Part TapsGradient::part(std::size_t number) const {
  const auto wide = static_cast<std::size_t>(right_parts_.count);
  const Range blocks = right_parts_.range(static_cast<int>(number % wide));
  const auto channels = static_cast<std::size_t>(right_shape().channels);
  return {left_parts_.range(static_cast<int>(number / wide)),
          {blocks.begin * kPack, std::min(channels, blocks.end * kPack)}};
}

std::size_t TapsGradient::scratch_floats() const {
  const Part largest = part(0);
  const std::size_t left = largest.left.size();
  const std::size_t right = right_parts_.range(0).size() * kPack;
  return pixels_ * (Gathered::pixel_floats(left) + Gathered::pixel_floats(right) +
                    right * kPack) +
         left * right;
}

TapsGradient::Buffers TapsGradient::buffers(const Part& part, float* scratch) const {
  Buffers result{};
  const auto take = [&](std::size_t floats) {
    float* begin = scratch;
    scratch += floats;
    return begin;
  };
  const std::size_t left = Gathered::pixel_floats(part.left.size());
  const std::size_t right = Gathered::pixel_floats(part.right.size());
  result.left = {take(pixels_ * left), left};
  result.right = {take(pixels_ * right), right};
  result.turned = take(pixels_ * round_up(part.right.size(), kPack) * kPack);
  result.sums = scratch;
  return result;
}

void TapsGradient::turn(const Pass& pass, const Part& part, const Buffers& buffers,
                        std::size_t pixels) const {
  const LaneKernels& kernels = lane_kernels(pass.kernels);
  const std::size_t blocks = round_up(part.right.size(), kPack) / kPack;
  for (std::size_t i = 0; i < pixels; ++i) {
    for (std::size_t b = 0; b < blocks; ++b) {
      kernels.transpose(buffers.right.first + i * buffers.right.pixel + b * kSquare,
                        buffers.turned + (b * pixels_ + i) * kSquare);
    }
  }
}

/// Adds the gathered pixels' share to the sums, or begins with it.
void TapsGradient::add_pixels(const Pass& pass, const Part& part, const Buffers& buffers,
                              std::size_t pixels, bool first) const {
  const std::size_t row = round_up(part.right.size(), kPack);
  for (std::size_t i = 0; i < pixels; i += kPixelsAChain) {
    for (std::size_t b = 0; b < row / kPack; ++b) {
      product_kernels(pass.kernels)
          .product({.a = buffers.left.first + i * buffers.left.pixel,
                    .a_row = kPack,
                    .b = buffers.turned + (b * pixels_ + i) * kSquare,
                    .dst = buffers.sums + b * kPack,
                    .dst_row = row,
                    .rows = static_cast<int>(part.left.size()),
                    .depth = kPack,
                    .accumulate = !first || i > 0,
                    .pieces = static_cast<int>(std::min(kPixelsAChain, pixels - i)),
                    .a_piece = buffers.left.pixel,
                    .b_piece = kSquare});
    }
  }
}

void TapsGradient::store(const Part& part, const float* sums, const Work& work) const {
  const std::size_t row = round_up(part.right.size(), kPack);
  const auto channels = static_cast<std::size_t>(src_.channels);
  const std::size_t from_left = turns_src() ? channels : 1;
  const std::size_t from_right = turns_src() ? 1 : channels;
  for (std::size_t i = 0; i < part.left.size(); ++i) {
    float* taps = work.taps + (part.left.begin + i) * from_left;
    for (std::size_t j = 0; j < part.right.size(); ++j) {
      float& tap = taps[(part.right.begin + j) * from_right];
      tap = work.accumulate ? sums[i * row + j] + tap : sums[i * row + j];
    }
  }
}

}  // namespace convoy
