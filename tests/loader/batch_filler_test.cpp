// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/batch_filler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "convoy/data/synthetic.h"
#include "convoy/loader/loader.h"
#include "tests/allocation_count.h"

namespace convoy {
namespace {

const Normalization kNormalization{.moments = {{.mean = 0.25, .deviation = 0.5}}};

struct Filled {
  std::vector<float> images;
  std::vector<std::int32_t> labels;
};

Filled fill(BatchFiller& filler, const Dataset& data, int epoch,
            const std::vector<std::uint32_t>& samples) {
  Filled filled{std::vector<float>(samples.size() * data.shape.size()),
                std::vector<std::int32_t>(samples.size())};
  filler.fill(epoch, samples, filled.images, filled.labels);
  return filled;
}

TEST(BatchFiller, WritesWhatALoaderGives) {
  const Dataset data = make_synthetic({.train_count = 30, .test_count = 1}).train;
  std::vector<std::uint32_t> samples(30);
  std::iota(samples.begin(), samples.end(), 0u);
  const auto augmentation = Augmentation::crop_flip;
  Loader loader(data, samples,
                {.batch_size = 8,
                 .seed = 5,
                 .normalization = kNormalization,
                 .augmentation = augmentation});
  BatchFiller filler(data, kNormalization, data.shape, {augmentation, 5});

  for (const int epoch : {1, 2}) {
    const auto order = epoch_order(samples, 5, epoch);
    loader.start_epoch(epoch);
    for (std::size_t begin = 0; const Batch* batch = loader.next(); begin += 8) {
      const std::vector<std::uint32_t> of_batch(
          order.begin() + static_cast<long>(begin),
          order.begin() + static_cast<long>(begin + batch->count));
      const Filled filled = fill(filler, data, epoch, of_batch);
      EXPECT_THAT(filled.images, testing::ElementsAreArray(batch->images));
      EXPECT_THAT(filled.labels, testing::ElementsAreArray(batch->labels));
    }
  }
}

TEST(BatchFiller, AllocatesNothing) {
  const Dataset data = make_synthetic({.train_count = 8, .test_count = 1}).train;
  BatchFiller filler(data, kNormalization, data.shape, {Augmentation::crop_flip, 5});
  const std::vector<std::uint32_t> samples{3, 1, 7};
  std::vector<float> images(3 * data.shape.size());
  std::vector<std::int32_t> labels(3);

  const long before = allocation_count();
  for (int epoch = 0; epoch < 10; ++epoch) filler.fill(epoch, samples, images, labels);

  EXPECT_EQ(allocation_count(), before);
}

TEST(BatchFillerDeathTest, NeedsRoom) {
  const Dataset data = make_synthetic({.train_count = 8, .test_count = 1}).train;
  BatchFiller filler(data, kNormalization, data.shape, {Augmentation::none, 5});
  std::vector<float> images(data.shape.size());
  std::vector<std::int32_t> labels(2);

  EXPECT_DEATH(filler.fill(0, std::vector<std::uint32_t>{1, 2}, images, labels), "room");
}

}  // namespace
}  // namespace convoy
