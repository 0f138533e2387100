// SPDX-License-Identifier: Apache-2.0
//
// Augmentation: random crops and flips of images, different in every epoch.
//
// A view is torchvision's RandomCrop(size, padding), then RandomHorizontalFlip: the image
// in a frame, cut back to its size anywhere, perhaps mirrored.
// It follows from seed, epoch and sample alone: the same on any thread, rank, batch size
// and order.

#pragma once

#include <cstdint>

namespace convoy {

enum class Augmentation {
  none,
  crop_flip,      // a black frame; mirrored or not at random
  crop_alternate  // a frame of the image's own pixels; mirrored in every second epoch; in
                  // which, is random by sample
};

/// Pixels of the frame. A short training has no time for the views of a wide one.
constexpr int padding_of(Augmentation augmentation) {
  if (augmentation == Augmentation::none) return 0;
  return augmentation == Augmentation::crop_flip ? 4 : 2;
}

/// Which part of an image is shown: shifted by some pixels, then mirrored left to right
/// or not.
struct View {
  int down = 0;   // row r shows the image's row r + down
  int right = 0;  // column c shows the image's column c + right
  bool mirrored = false;
  bool edges_mirror = false;  // and show what is before them; else black is beyond them

  bool operator==(const View&) const = default;
};

View view_of(Augmentation augmentation, std::uint64_t seed, int epoch,
             std::uint32_t sample);

}  // namespace convoy
