// SPDX-License-Identifier: Apache-2.0
//
// Augmentation: random crops and flips of images, different in every epoch.
//
// A view is torchvision's RandomCrop(size, padding), then RandomHorizontalFlip: the
// padded image is cropped to its size at a random position and randomly mirrored. It
// follows from seed, epoch and sample alone, so it is the same on any thread and rank,
// with any batch size and order. Of images that are files, a view may be torchvision's
// RandomResizedCrop(size), and then RandomHorizontalFlip.

#pragma once

#include <cstdint>
#include <optional>

#include "convoy/base/random.h"

namespace convoy {

enum class Augmentation {
  none,
  crop_flip,  // zero padding; random horizontal flip
  /// Reflection padding; flipped in every second epoch, even or odd at random per sample.
  crop_alternate,
  imagenet,       // of files: random resized crop; random horizontal flip
  imagenet_crop,  // of files: random resized crop
  /// As imagenet, and the transforms of the loader's options (transforms/).
  imagenet_strong
};

constexpr bool is_of_files(Augmentation augmentation) {
  return augmentation == Augmentation::imagenet ||
         augmentation == Augmentation::imagenet_crop ||
         augmentation == Augmentation::imagenet_strong;
}

/// Pixels of padding. Wider padding needs longer training.
constexpr int padding_of(Augmentation augmentation) {
  if (augmentation == Augmentation::none || is_of_files(augmentation)) return 0;
  return augmentation == Augmentation::crop_flip ? 4 : 2;
}

/// What an image's random numbers follow from.
struct AugmentKey {
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0, sample = 0;

  RandomStream stream() const { return {seed, RngStream::augment, epoch, sample}; }

  bool operator==(const AugmentKey&) const = default;
};

/// Which part of an image is shown: shifted by some pixels, then optionally mirrored.
struct View {
  int down = 0;   // row r shows the image's row r + down
  int right = 0;  // column c shows the image's column c + right
  bool mirrored = false;
  bool edges_mirror = false;  // reflection padding; false: zero padding
  /// Of files: what makes a random cutout of the image; none: its centre.
  std::optional<AugmentKey> cutout{};

  bool operator==(const View&) const = default;
};

View view_of(Augmentation augmentation, std::uint64_t seed, int epoch,
             std::uint32_t sample);

}  // namespace convoy
