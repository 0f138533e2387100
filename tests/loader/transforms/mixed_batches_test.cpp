// SPDX-License-Identifier: Apache-2.0
//
// Batches of a loader that transforms and mixes samples.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "convoy/data/synthetic.h"
#include "convoy/loader/loader.h"
#include "tests/images/image_folders.h"

namespace convoy {
namespace {

std::vector<std::uint32_t> every_sample(const Dataset& data) {
  std::vector<std::uint32_t> samples(data.size());
  std::iota(samples.begin(), samples.end(), 0u);
  return samples;
}

struct CopiedBatch {
  std::vector<float> images, distributions;
  std::vector<std::int32_t> labels;

  bool operator==(const CopiedBatch&) const = default;
};

std::vector<CopiedBatch> epoch_of_batches(const Dataset& data,
                                          const LoaderOptions& options,
                                          std::size_t first = 0) {
  Loader loader(data, every_sample(data), options);
  loader.start_epoch(2, first);
  std::vector<CopiedBatch> batches;
  while (const Batch* batch = loader.next()) {
    batches.push_back({{batch->images.begin(), batch->images.end()},
                       {batch->distributions.begin(), batch->distributions.end()},
                       {batch->labels.begin(), batch->labels.end()}});
  }
  return batches;
}

/// The micro-batches of all ranks, in order.
std::vector<CopiedBatch> joined_ranks(const Dataset& data, LoaderOptions options,
                                      std::size_t microbatches, int ranks, Deal deal) {
  std::vector<CopiedBatch> joined;
  std::vector<std::vector<CopiedBatch>> by_rank;
  for (int rank = 0; rank < ranks; ++rank) {
    options.part = deal_microbatches(microbatches, ranks, rank, deal);
    by_rank.push_back(epoch_of_batches(data, options));
  }
  const std::size_t image = data.shape.size(), classes = data.classes.size();
  for (std::size_t b = 0; b < by_rank.front().size(); ++b) {
    CopiedBatch whole;
    std::size_t count = 0;
    for (const auto& rank : by_rank) count += rank[b].labels.size();
    for (std::size_t m = 0; m < microbatches; ++m) {
      for (int rank = 0; rank < ranks; ++rank) {
        const MicrobatchPart part = deal_microbatches(microbatches, ranks, rank, deal);
        for (std::size_t i = 0; i < part.count(); ++i) {
          if (part.number(i) != m) continue;
          const CopiedBatch& own = by_rank[static_cast<std::size_t>(rank)][b];
          const std::size_t begin = part.samples_before(i, count);
          const std::size_t end = part.samples_before(i + 1, count);
          const auto add = [&](const auto& from, auto& to, std::size_t size) {
            to.insert(to.end(), from.begin() + static_cast<long>(begin * size),
                      from.begin() + static_cast<long>(end * size));
          };
          add(own.images, whole.images, image);
          add(own.distributions, whole.distributions, classes);
          add(own.labels, whole.labels, 1);
        }
      }
    }
    joined.push_back(whole);
  }
  return joined;
}

const TransformOptions kMixing{.mix = {0.4, 1}};

TEST(MixedBatches, HaveEachSampleMixedWithTheOneBefore) {
  const Dataset data = make_synthetic({.train_count = 10, .test_count = 1}).train;
  LoaderOptions options{.batch_size = 4, .seed = 9};
  const std::vector<CopiedBatch> plain = epoch_of_batches(data, options);
  options.transforms = {.mix = {0.4, 0}};
  const std::vector<CopiedBatch> mixed = epoch_of_batches(data, options);
  const BatchMixer mixer(options.transforms.mix, data.shape, 10, {.seed = 9});

  ASSERT_EQ(mixed.size(), 3u);
  const std::size_t size = data.shape.size();
  for (std::size_t b = 0; b < mixed.size(); ++b) {
    const auto own = static_cast<float>(mixer.mix_of(2, b).own);
    const auto other = static_cast<float>(1 - mixer.mix_of(2, b).own);
    const std::size_t count = plain[b].labels.size();
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t before = (i + count - 1) % count;
      for (std::size_t p = 0; p < size; ++p) {
        ASSERT_EQ(mixed[b].images[i * size + p],
                  own * plain[b].images[i * size + p] +
                      other * plain[b].images[before * size + p]);
      }
      const auto label = static_cast<std::size_t>(plain[b].labels[i]);
      const bool same = plain[b].labels[i] == plain[b].labels[before];
      EXPECT_FLOAT_EQ(mixed[b].distributions[i * 10 + label], same ? 1 : own);
    }
  }
}

TEST(MixedBatches, AreTheSameOnAnyRanks) {
  const Dataset data = make_synthetic({.train_count = 31, .test_count = 1}).train;
  const LoaderOptions options{.batch_size = 8, .seed = 9, .transforms = kMixing};
  const std::vector<CopiedBatch> alone = epoch_of_batches(data, options);

  for (const int ranks : {1, 2, 3, 5}) {
    for (const Deal deal : {Deal::runs, Deal::in_turn}) {
      EXPECT_EQ(joined_ranks(data, options, 5, ranks, deal), alone) << ranks;
    }
  }
}

TEST(MixedBatches, OfFilesAreTheSameOnAnyThreadsAndAfterASeek) {
  ImageFolder folder;
  folder.add_two_classes();
  const Dataset train = open_image_folder(folder.options()).train;
  LoaderOptions options{.batch_size = 2,
                        .augmentation = Augmentation::imagenet_strong,
                        .transforms = {.jitter = {0.4, 0.4, 0.4, 0.1},
                                       .rand_augment = {2, 9},
                                       .erase_probability = 0.5,
                                       .mix = {0.2, 1}},
                        .threads = 1};
  const std::vector<CopiedBatch> one = epoch_of_batches(train, options);
  options.threads = 4;

  EXPECT_EQ(epoch_of_batches(train, options), one);
  EXPECT_EQ(epoch_of_batches(train, options, 2).front(), one[2]);
  for (const int ranks : {2, 3}) {
    EXPECT_EQ(
        joined_ranks(train, {.batch_size = 3, .transforms = options.transforms}, 3, ranks,
                     Deal::runs),
        epoch_of_batches(train, {.batch_size = 3, .transforms = options.transforms}));
  }
}

TEST(MixedBatches, OfFilesDifferByEachTransform) {
  ImageFolder folder;
  folder.add_two_classes();
  const Dataset train = open_image_folder(folder.options()).train;
  const auto epoch_with = [&](const TransformOptions& transforms) {
    return epoch_of_batches(train, {.batch_size = 5,
                                    .augmentation = Augmentation::imagenet_strong,
                                    .transforms = transforms});
  };
  const std::vector<CopiedBatch> plain = epoch_with({});

  EXPECT_EQ(plain, epoch_of_batches(
                       train, {.batch_size = 5, .augmentation = Augmentation::imagenet}));
  EXPECT_NE(epoch_with({.jitter = {.brightness = 0.4}}), plain);
  EXPECT_NE(epoch_with({.rand_augment = {2, 9}}), plain);
  EXPECT_NE(epoch_with({.erase_probability = 1}), plain);
  EXPECT_NE(epoch_with({.mix = {.mixup_alpha = 1}}), plain);
}

TEST(LeftOutSamples, AreNotInABatch) {
  ImageFolder folder;
  folder.add_two_classes();
  folder.write("train/cat/b.png", "text");
  folder.write("train/dog/b.JPG", "");
  ImageFolderOptions files = folder.options();
  files.skip_damaged = true;
  const Dataset train = open_image_folder(files).train;
  Loader loader(train, every_sample(train),
                {.batch_size = 3, .shuffle = false, .damaged = DamagedSample::left_out});
  loader.start_epoch(0);

  const Batch* first = loader.next();
  EXPECT_THAT(first->samples, testing::ElementsAre(0, 2));
  EXPECT_THAT(first->labels, testing::ElementsAre(0, 0));
  EXPECT_EQ(first->images.size(), 2 * train.shape.size());
  const std::vector<float> third(first->images.end() - 3 * 32 * 32, first->images.end());
  const Batch* second = loader.next();
  EXPECT_THAT(second->samples, testing::ElementsAre(3));
  EXPECT_EQ(second->count, 1u);
  EXPECT_EQ(train.files->damaged->count(), 2u);

  Loader alone(train, {2}, {.batch_size = 1});
  alone.start_epoch(0);
  EXPECT_THAT(third, testing::ElementsAreArray(alone.next()->images));
}

}  // namespace
}  // namespace convoy
