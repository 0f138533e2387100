// SPDX-License-Identifier: Apache-2.0
//
// TransformOptions: what is done to training images besides crops and flips.

#pragma once

namespace convoy {

/// How far factors are from 1, and hues from what they are, at most: torchvision's
/// ColorJitter.
struct ColourJitter {
  double brightness = 0, contrast = 0, saturation = 0, hue = 0;

  bool is_on() const {
    return brightness > 0 || contrast > 0 || saturation > 0 || hue > 0;
  }
};

/// torchvision's RandAugment with 31 magnitudes, bilinear.
struct RandAugment {
  int operations = 0;  // per image
  int magnitude = 9;   // 0 .. 30
};

/// The parameters of the Beta distributions of mixup and cutmix; 0: none. Of both, each
/// batch has one at random.
struct MixOptions {
  double mixup_alpha = 0, cutmix_alpha = 0;

  bool is_on() const { return mixup_alpha > 0 || cutmix_alpha > 0; }
};

struct TransformOptions {
  ColourJitter jitter{};
  RandAugment rand_augment{};
  double erase_probability = 0;  // of torchvision's RandomErasing, with value 0
  MixOptions mix{};

  bool change_bytes() const { return jitter.is_on() || rand_augment.operations > 0; }
};

}  // namespace convoy
