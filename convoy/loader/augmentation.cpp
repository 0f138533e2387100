// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/augmentation.h"

#include "convoy/base/random.h"

namespace convoy {
namespace {

constexpr std::uint64_t kOfEpoch = 0, kOfSample = 1;  // blocks of random words

/// -padding .. padding. The bias of the range reduction is below 2^-28.
int shift(std::uint32_t word, int padding) {
  const std::uint64_t shifts = 2 * static_cast<std::uint64_t>(padding) + 1;
  return static_cast<int>(word * shifts >> 32) - padding;
}

bool coin(std::uint32_t word) { return word >> 31 != 0; }

}  // namespace

View view_of(Augmentation augmentation, std::uint64_t seed, int epoch,
             std::uint32_t sample) {
  if (augmentation == Augmentation::none) return {};
  const AugmentKey key = {seed, static_cast<std::uint32_t>(epoch), sample};
  const auto words = key.stream().block(kOfEpoch);
  if (is_of_files(augmentation)) {
    const bool may_flip = augmentation != Augmentation::imagenet_crop;
    return {.mirrored = may_flip && coin(words[2]), .cutout = key};
  }
  const int padding = padding_of(augmentation);
  View view = {shift(words[0], padding), shift(words[1], padding), coin(words[2])};
  if (augmentation == Augmentation::crop_alternate) {
    const RandomStream of_sample(seed, RngStream::augment, 0, sample);
    view.mirrored = coin(of_sample.block(kOfSample)[0]) != (epoch % 2 != 0);
    view.edges_mirror = true;
  }
  return view;
}

}  // namespace convoy
