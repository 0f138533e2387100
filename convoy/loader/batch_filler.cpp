// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/batch_filler.h"

#include <cstddef>

#include "convoy/base/error.h"
#include "convoy/loader/transforms/random_erasing.h"

namespace convoy {

void BatchFiller::fill(int epoch, std::span<const std::uint32_t> samples,
                       std::span<float> images, std::span<std::int32_t> labels) {
  const std::size_t size = shape().size();
  check(images.size() >= samples.size() * size && labels.size() >= samples.size(),
        "a batch has room for its samples");
  for (std::size_t i = 0; i < samples.size(); ++i) {
    labels[i] = fill_one(epoch, samples[i], images.subspan(i * size, size));
  }
}

/// Returns the label.
std::int32_t BatchFiller::fill_one(int epoch, std::uint32_t sample,
                                   std::span<float> image) {
  const View view = view_of(options_.augmentation, options_.seed, epoch, sample);
  const std::optional<std::size_t> shown =
      images_.write(sample, view, image.data(), &transforms_);
  if (!shown) return kNoLabel;
  if (const double probability = options_.transforms.erase_probability; probability > 0) {
    const AugmentKey key = {options_.seed, static_cast<std::uint32_t>(epoch), sample};
    const ImageSize size = {shape().width, shape().height};
    const auto box = draw_erased_box(probability, size, key.stream());
    if (box) erase(image, shape(), *box);
  }
  return data_.labels[*shown];
}

}  // namespace convoy
