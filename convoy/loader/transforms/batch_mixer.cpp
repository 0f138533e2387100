// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/transforms/batch_mixer.h"

#include "convoy/loader/transforms/random_words.h"

namespace convoy {

BatchMix BatchMixer::mix_of(int epoch, std::size_t batch) const {
  const RandomStream stream(key_.seed, RngStream::augment,
                            static_cast<std::uint32_t>(epoch),
                            static_cast<std::uint32_t>(batch));
  return draw_mix(options_, {shape_.width, shape_.height}, stream,
                  kMixBlocks * (std::uint64_t{key_.worker} + 1));
}

void BatchMixer::mix(int epoch, std::size_t batch, const BatchPart& part) const {
  if (part.runs.empty()) return;
  const BatchMix mix = mix_of(epoch, batch);
  const std::size_t count = part.runs.back().end, size = shape_.size();
  const auto image = [&](std::size_t i) { return part.images.subspan(i * size, size); };
  for (std::size_t run = 0; run < part.runs.size(); ++run) {
    const auto [begin, end] = part.runs[run];
    // From the last on: what is before a sample is not mixed yet.
    for (std::size_t i = end; i-- > begin;) {
      const std::size_t before = i > begin ? i - 1 : count + run;
      mix_images(mix, shape_, image(before), image(i));
      part.labels[i] = mix_labels(mix, part.labels[before], part.labels[i],
                                  part.distributions.subspan(i * classes_, classes_));
    }
  }
}

}  // namespace convoy
