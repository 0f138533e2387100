// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include "convoy/base/error.h"
#include "tests/base/expect_error.h"

namespace convoy {
namespace {

/// Samples of 1 x 2 x 3 pixels of which sample i has all pixels and its label i.
Dataset numbered(std::size_t count) {
  Dataset data{.name = "numbered", .shape = {1, 2, 3}};
  data.classes.resize(count);
  std::vector<std::uint8_t> images;
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < count; ++i) {
    images.insert(images.end(), 6, static_cast<std::uint8_t>(i));
    labels.push_back(static_cast<std::int32_t>(i));
  }
  data.images = images;
  data.labels = labels;
  return data;
}

std::vector<std::uint32_t> all_samples(const Dataset& data) {
  std::vector<std::uint32_t> samples(data.size());
  std::iota(samples.begin(), samples.end(), 0u);
  return samples;
}

using Labels = std::vector<std::int32_t>;

/// The labels of each batch up to the epoch's end.
std::vector<Labels> rest_of_epoch(Loader& loader) {
  std::vector<Labels> batches;
  while (const Batch* batch = loader.next()) {
    batches.emplace_back(batch->labels.begin(), batch->labels.end());
  }
  return batches;
}

std::vector<Labels> epoch_of(Loader& loader, int epoch, std::size_t first_batch = 0) {
  loader.start_epoch(epoch, first_batch);
  return rest_of_epoch(loader);
}

Labels joined(const std::vector<Labels>& batches) {
  Labels all;
  for (const Labels& batch : batches) all.insert(all.end(), batch.begin(), batch.end());
  return all;
}

TEST(Loader, GivesEachSampleOnceAnEpoch) {
  const Dataset data = numbered(100);
  Loader loader(data, all_samples(data), {.batch_size = 8});
  Labels expected(100);
  std::iota(expected.begin(), expected.end(), 0);

  for (int epoch = 0; epoch < 3; ++epoch) {
    EXPECT_THAT(joined(epoch_of(loader, epoch)),
                testing::UnorderedElementsAreArray(expected));
  }
}

TEST(Loader, NeitherPadsNorDropsTheLastBatch) {
  const Dataset data = numbered(10);
  Loader loader(data, all_samples(data), {.batch_size = 4});
  const auto batches = epoch_of(loader, 0);

  EXPECT_EQ(loader.batches_per_epoch(), 3u);
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_EQ(batches[1].size(), 4u);
  EXPECT_EQ(batches[2].size(), 2u);
}

TEST(Loader, TakesABatchLargerThanTheData) {
  const Dataset data = numbered(3);
  Loader loader(data, all_samples(data), {.batch_size = std::size_t(-1)});

  EXPECT_EQ(epoch_of(loader, 0).size(), 1u);
}

std::vector<std::vector<float>> images_of_batches(Loader& loader, int epoch) {
  std::vector<std::vector<float>> batches;
  loader.start_epoch(epoch);
  while (const Batch* batch = loader.next()) {
    batches.emplace_back(batch->images.begin(), batch->images.end());
  }
  return batches;
}

/// Each rank's micro-batches of each batch, rank after rank, are the batch.
TEST(Loader, PreparesOnlyTheSamplesOfItsOwnMicrobatches) {
  const Dataset data = numbered(44);
  Loader whole(data, all_samples(data), {.batch_size = 10});
  Loader first(data, all_samples(data),
               {.batch_size = 10, .part = {.microbatches = 5, .own = {0, 3}}});
  Loader last(data, all_samples(data),
              {.batch_size = 10, .part = {.microbatches = 5, .own = {3, 5}}});

  const auto expected = epoch_of(whole, 1), of_first = epoch_of(first, 1),
             of_last = epoch_of(last, 1);

  ASSERT_EQ(of_first.size(), 5u);
  ASSERT_EQ(of_last.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(joined({of_first[i], of_last[i]}), expected[i]) << "batch " << i;
  }
  EXPECT_EQ(of_first[0].size(), 6u);
  EXPECT_EQ(of_first[4].size(), 3u) << "microbatches of a last batch of 4";
}

/// As numbered(), with the labels 0 .. 3 in turn.
Dataset of_four_labels(std::size_t count) {
  Dataset data = numbered(count);
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < count; ++i) {
    labels.push_back(static_cast<std::int32_t>(i % 4));
  }
  data.labels = labels;
  data.classes.resize(4);
  return data;
}

TEST(Loader, GivesEveryMicrobatchItsOwnLabels) {
  const Dataset data = of_four_labels(88);
  Loader loader(
      data, all_samples(data),
      {.batch_size = 12, .part = all_microbatches(4), .partition = Partition::labels});
  EXPECT_EQ(loader.samples_per_epoch(), 88u);

  std::set<Labels> deals;
  for (const Labels& batch : epoch_of(loader, 1)) {
    const std::size_t slice = batch.size() / 4;
    EXPECT_EQ(slice, batch.size() == 12 ? 3u : 1u) << "of a last batch of 4";
    Labels deal;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      EXPECT_EQ(batch[i], batch[i / slice * slice]) << "a micro-batch has a label";
      if (i % slice == 0) deal.push_back(batch[i]);
    }
    EXPECT_THAT(deal, testing::UnorderedElementsAre(0, 1, 2, 3));
    deals.insert(deal);
  }
  EXPECT_EQ(deals.size(), 1u) << "and keeps it";
}

TEST(Loader, GivesEveryMicrobatchEverythingIfShared) {
  const Dataset data = numbered(22);
  const MicrobatchPart first{.microbatches = 2, .own = {0, 1}},
      second{.microbatches = 2, .own = {1, 2}};
  const auto shared = Partition::shared;
  Loader one(data, all_samples(data),
             {.batch_size = 10, .part = first, .partition = shared});
  Loader other(data, all_samples(data),
               {.batch_size = 10, .part = second, .partition = shared});
  Loader alone(data, all_samples(data), {.batch_size = 5});
  Labels expected(22);
  std::iota(expected.begin(), expected.end(), 0);
  const auto of_one = epoch_of(one, 1), of_other = epoch_of(other, 1);

  EXPECT_EQ(of_one.size(), 5u);
  EXPECT_EQ(of_one, epoch_of(alone, 1)) << "the first goes as one alone would";
  EXPECT_THAT(joined(of_other), testing::UnorderedElementsAreArray(expected));
  EXPECT_NE(of_other, of_one);
}

/// Each rank's micro-batches of each batch, rank after rank, are the batch, also with
/// parts.
TEST(Loader, PreparesOnlyTheSamplesOfItsOwnPartedMicrobatches) {
  const Dataset data = of_four_labels(60);
  const auto loader_of = [&](Range own) {
    return std::make_unique<Loader>(data, all_samples(data),
                                    LoaderOptions{.batch_size = 8,
                                                  .part = {.microbatches = 4, .own = own},
                                                  .partition = Partition::labels});
  };
  const auto whole = epoch_of(*loader_of({0, 4}), 2),
             first = epoch_of(*loader_of({0, 3}), 2),
             last = epoch_of(*loader_of({3, 4}), 2);

  ASSERT_EQ(whole.size(), 8u);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(joined({first[i], last[i]}), whole[i]) << "batch " << i;
  }
}

TEST(Loader, WithASingleMicrobatchIsTheSameForEveryPartition) {
  const Dataset data = of_four_labels(50);
  Loader plain(data, all_samples(data), {.batch_size = 8});
  const auto expected = images_of_batches(plain, 3);

  for (const Partition partition : {Partition::shared, Partition::labels}) {
    Loader loader(data, all_samples(data), {.batch_size = 8, .partition = partition});
    EXPECT_EQ(images_of_batches(loader, 3), expected);
  }
}

TEST(Loader, OfAnotherWorkerHasAnotherOrder) {
  const Dataset data = numbered(50);
  Loader first(data, all_samples(data), {.batch_size = 8});
  Loader second(data, all_samples(data), {.batch_size = 8, .worker = 1});

  EXPECT_NE(epoch_of(first, 1), epoch_of(second, 1));
}

TEST(Loader, RefusesPartsThatMicrobatchesCannotHave) {
  const Dataset data = of_four_labels(50);
  const auto make = [&](std::size_t batch_size, std::size_t microbatches,
                        Partition partition) {
    Loader(data, all_samples(data),
           {.batch_size = batch_size,
            .part = all_microbatches(microbatches),
            .partition = partition});
  };

  EXPECT_THROW(make(10, 2, Partition::labels_unscaled), InputError);
  EXPECT_THROW(make(10, 5, Partition::labels), InputError);
  EXPECT_THROW(make(10, 4, Partition::labels), InputError);
}

TEST(Loader, KnowsHowLargeABatchIsOfWhichItHasNothing) {
  const Dataset data = numbered(11);
  Loader loader(data, all_samples(data),
                {.batch_size = 10, .part = {.microbatches = 5, .own = {3, 5}}});
  loader.start_epoch(0);

  EXPECT_EQ(loader.next()->global_count, 10u);
  const Batch* last = loader.next();

  EXPECT_EQ(last->global_count, 1u);
  EXPECT_EQ(last->count, 0u);
}

TEST(Loader, NormalisesPixelsAndKeepsThemWithTheirLabels) {
  const Dataset data = numbered(50);
  const Normalization normalization{.moments = {{.mean = 0.25, .deviation = 0.5}}};
  Loader loader(data, all_samples(data),
                {.batch_size = 7, .normalization = normalization});
  loader.start_epoch(0);

  while (const Batch* batch = loader.next()) {
    ASSERT_EQ(batch->images.size(), batch->count * data.shape.size());
    for (std::size_t i = 0; i < batch->images.size(); ++i) {
      const double scaled = batch->labels[i / data.shape.size()] / 255.0;
      EXPECT_FLOAT_EQ(batch->images[i], static_cast<float>((scaled - 0.25) / 0.5));
    }
  }
}

TEST(Loader, UsesOnlyTheGivenSamples) {
  const Dataset data = numbered(20);
  Loader loader(data, {3, 5, 8}, {.batch_size = 2});

  EXPECT_THAT(joined(epoch_of(loader, 0)), testing::UnorderedElementsAre(3, 5, 8));
}

TEST(Loader, ShufflesEpochsDifferentlyAndRepeatsForTheSameSeed) {
  const Dataset data = numbered(60);
  Loader loader(data, all_samples(data), {.batch_size = 16, .seed = 5});
  Loader same(data, all_samples(data), {.batch_size = 16, .seed = 5});
  Loader other(data, all_samples(data), {.batch_size = 16, .seed = 6});
  const auto first = epoch_of(loader, 0);

  EXPECT_NE(first, epoch_of(loader, 1));
  EXPECT_EQ(first, epoch_of(same, 0));
  EXPECT_NE(first, epoch_of(other, 0));
  EXPECT_EQ(first, epoch_of(loader, 0));
}

TEST(Loader, KeepsTheOrderWithoutShuffling) {
  const Dataset data = numbered(5);
  Loader loader(data, {4, 1, 3}, {.batch_size = 2, .shuffle = false});

  EXPECT_THAT(joined(epoch_of(loader, 1)), testing::ElementsAre(4, 1, 3));
}

TEST(Loader, GivesTheSameBatchesHoweverManyAreAhead) {
  const Dataset data = numbered(90);
  Loader one(data, all_samples(data), {.batch_size = 7, .ahead = 1});
  Loader many(data, all_samples(data), {.batch_size = 7, .ahead = 50});

  EXPECT_EQ(epoch_of(one, 2), epoch_of(many, 2));
}

TEST(Loader, EntersAnEpochAtAnyBatch) {
  const Dataset data = numbered(90);
  Loader loader(data, all_samples(data), {.batch_size = 7});
  const auto whole = epoch_of(loader, 3);

  for (std::size_t first = 0; first <= whole.size(); ++first) {
    const std::vector<Labels> expected(whole.begin() + static_cast<long>(first),
                                       whole.end());
    EXPECT_EQ(epoch_of(loader, 3, first), expected) << "from batch " << first;
  }
}

TEST(Loader, BeginsAnotherEpochInTheMiddleOfOne) {
  const Dataset data = numbered(90);
  Loader loader(data, all_samples(data), {.batch_size = 7});
  const auto second = epoch_of(loader, 2);

  for (int used = 0; used < 13; ++used) {
    loader.start_epoch(1);
    for (int i = 0; i < used; ++i) ASSERT_NE(loader.next(), nullptr);
    EXPECT_EQ(epoch_of(loader, 2), second);
  }
}

TEST(Loader, KeepsABatchValidUntilTheNextIsAskedFor) {
  const Dataset data = numbered(90);
  Loader loader(data, all_samples(data), {.batch_size = 7, .ahead = 1});
  loader.start_epoch(0);
  const Batch* batch = loader.next();
  const Labels before(batch->labels.begin(), batch->labels.end());
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the thread runs ahead

  EXPECT_THAT(before, testing::ElementsAreArray(batch->labels));
  EXPECT_EQ(batch->images[0], static_cast<float>(before[0] / 255.0));
}

TEST(Loader, GoesThroughFixedBuffersFromEpochToEpoch) {
  const Dataset data = numbered(90);
  Loader loader(data, all_samples(data), {.batch_size = 7, .ahead = 2});
  std::set<const float*> buffers;
  for (int epoch = 0; epoch < 3; ++epoch) {
    loader.start_epoch(epoch);
    while (const Batch* batch = loader.next()) buffers.insert(batch->images.data());
  }

  EXPECT_EQ(buffers.size(), 3u);
}

TEST(Loader, GivesNothingBeforeTheFirstEpochAndAfterTheLast) {
  const Dataset data = numbered(4);
  Loader loader(data, all_samples(data), {.batch_size = 4});

  EXPECT_EQ(loader.next(), nullptr);
  epoch_of(loader, 0);
  EXPECT_EQ(loader.next(), nullptr);
  EXPECT_EQ(loader.next(), nullptr);
}

TEST(Loader, EndsPromptlyWhereverItIs) {
  const Dataset data = numbered(200);
  for (int used = 0; used < 40; ++used) {
    Loader loader(data, all_samples(data), {.batch_size = 2});
    if (used > 0) loader.start_epoch(0);
    for (int i = 1; i < used; ++i) loader.next();
  }
}

TEST(Loader, CountsTheTimeItWaited) {
  const Dataset data = numbered(200);
  Loader loader(data, all_samples(data), {.batch_size = 2});
  EXPECT_EQ(loader.seconds_waited(), 0);
  epoch_of(loader, 0);

  EXPECT_GE(loader.seconds_waited(), 0);
}

/// The images of an epoch by label; sample i of numbered() has label i.
std::map<int, std::vector<float>> images_of(Loader& loader, int epoch) {
  std::map<int, std::vector<float>> images;
  loader.start_epoch(epoch);
  while (const Batch* batch = loader.next()) {
    const std::size_t size = batch->images.size() / batch->count;
    for (std::size_t i = 0; i < batch->count; ++i) {
      const auto image = batch->images.subspan(i * size, size);
      images[batch->labels[i]] = {image.begin(), image.end()};
    }
  }
  return images;
}

TEST(Loader, AugmentsASampleAlikeInAnyBatchAndOrder) {
  const Dataset data = numbered(90);
  const auto crop_flip = Augmentation::crop_flip;
  Loader one(data, all_samples(data), {.batch_size = 7, .augmentation = crop_flip});
  Loader other(data, all_samples(data),
               {.batch_size = 32, .shuffle = false, .augmentation = crop_flip});
  const auto first = images_of(one, 1);

  EXPECT_EQ(first, images_of(other, 1));
  EXPECT_NE(first, images_of(one, 2));
  EXPECT_EQ(first, images_of(one, 1));
}

TEST(Loader, DoesNotAugmentUnlessTold) {
  const Dataset data = numbered(90);
  Loader loader(data, all_samples(data), {});

  for (const auto& [label, image] : images_of(loader, 1)) {
    EXPECT_THAT(image, testing::Each(static_cast<float>(label / 255.0)));
  }
}

TEST(Loader, RefusesANormalizationOfOtherImages) {
  const Dataset data = numbered(4);
  const Normalization of_three = {.moments = {{0, 1}, {0, 1}, {0, 1}}};

  expect_error(InputKind::data, {"numbered", "3", "1 for each of 1 channels"},
               [&] { Loader(data, all_samples(data), {.normalization = of_three}); });
}

TEST(Loader, RefusesWhatCannotBeBatches) {
  const Dataset data = numbered(4);

  EXPECT_THROW(Loader(data, all_samples(data), {.batch_size = 0}), InputError);
  EXPECT_THROW(Loader(data, all_samples(data), {.ahead = 0}), InputError);
  EXPECT_THROW(Loader(data, {}, {}), InputError);
}

}  // namespace
}  // namespace convoy
