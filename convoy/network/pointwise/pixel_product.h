// SPDX-License-Identifier: Apache-2.0
//
// What both directions of PointwiseStage do: gather some pixels of a pack, multiply their
// channels by a matrix, and write the results where they belong.

#pragma once

#include "convoy/network/kernels/product.h"
#include "convoy/network/stage.h"

namespace convoy {

// Columns over which the gradient of taps is one chain, as in WinogradStage.
inline constexpr std::size_t kPixelsAChain = 8;

// The most pixels that are gathered at a time.
inline constexpr std::size_t kMostPixelsAtATime = 32;

/// Pixels [first, first + count) of one pack.
struct PixelRun {
  std::size_t pack, first, count;
};

/// Gathered pixels, [pixel][channel][16]: pixels are a cache line more apart than their
/// channels need, since powers of two would fall on the same ones.
struct Gathered {
  float* first;
  std::size_t pixel;

  static std::size_t pixel_floats(std::size_t channels) {
    return (round_up(channels, kPack) + 1) * kPack;
  }
};

/// Gathers some channels of a run; `planes` is an activation of that shape. Those up to
/// the next multiple of sixteen become zeros.
void gather(const Pass& pass, const Stored& planes, Shape shape, Range channels,
            const PixelRun& run, const Gathered& to);

/// A matrix [rows][depth] in groups of rows: [group][depth][rows of the group].
class GroupedMatrix {
 public:
  // Each pixel that is read serves as many rows; two tiles of registers.
  static constexpr int kMostRows = 24;

  GroupedMatrix(int rows, int depth) : groups_(rows, kMostRows), depth_(depth) {}

  const Tiles& groups() const { return groups_; }
  std::size_t depth() const { return static_cast<std::size_t>(depth_); }
  std::size_t floats() const { return static_cast<std::size_t>(groups_.rows) * depth_; }

  /// From a matrix whose rows are these, and from one whose columns are.
  void copy_rows(const Pass& pass, const float* matrix, float* to) const;
  void copy_columns(const Pass& pass, const float* matrix, float* to) const;

 private:
  Tiles groups_;
  int depth_;
};

/// dst[row][pixel][16] = sum over channels of matrix[row][channel] * gathered pixels, for
/// the rows of some groups. Sums have the order of WinogradStage's: channels in slabs,
/// of which the last channels, fewer than sixteen, are a chain of their own.
struct PixelProduct {
  const GroupedMatrix& matrix;
  const float* factors;  // the matrix, grouped
  Range groups;
  Gathered src;
  std::size_t pixels;
  Stored dst;
  std::size_t dst_first;  // the first of these pixels in the first channel
  std::size_t dst_row;    // from one channel to the next
  float* tile = nullptr;  // space for a group's rows: streamed or rounded from there
};

void multiply(KernelSet kernels, const PixelProduct& work);

}  // namespace convoy
