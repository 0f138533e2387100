// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/batch_filler.h"

#include <cstddef>

#include "convoy/base/error.h"

namespace convoy {

void BatchFiller::fill(int epoch, std::span<const std::uint32_t> samples,
                       std::span<float> images, std::span<std::int32_t> labels) {
  const std::size_t size = shape().size();
  check(images.size() >= samples.size() * size && labels.size() >= samples.size(),
        "a batch has room for its samples");
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const View view = view_of(augmentation_, seed_, epoch, samples[i]);
    labels[i] = data_.labels[images_.write(samples[i], view, images.data() + i * size)];
  }
}

}  // namespace convoy
