// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/partition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "tests/base/expect_error.h"

namespace convoy {
namespace {

using Samples = std::vector<std::uint32_t>;

constexpr Partition kKinds[] = {Partition::iid, Partition::shared, Partition::labels,
                                Partition::labels_unscaled};

/// Ten labels in turn, but label 0 takes the place of every other 1: they are not equally
/// frequent. Images have no pixels that matter.
Dataset labelled(std::size_t count) {
  Dataset data{.name = "labelled", .shape = {1, 1, 1}};
  data.classes.resize(10);
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < count; ++i) {
    const auto label = static_cast<std::int32_t>(i * 7 % 10);
    labels.push_back(label == 1 && i % 20 < 10 ? 0 : label);
  }
  data.images = std::vector<std::uint8_t>(count);
  data.labels = labels;
  return data;
}

/// Every third is held out, say.
Samples some_samples(const Dataset& data) {
  Samples samples;
  for (std::uint32_t i = 0; i < data.size(); ++i) {
    if (i % 3 != 1) samples.push_back(i);
  }
  return samples;
}

Samples part_of(const Parts& parts, std::size_t part) {
  return {parts[part].begin(), parts[part].end()};
}

Samples all_of(const Parts& parts) {
  Samples all;
  for (std::size_t i = 0; i < parts.count(); ++i) {
    all.insert(all.end(), parts[i].begin(), parts[i].end());
  }
  return all;
}

std::set<int> labels_of(const Dataset& data, const Parts& parts, std::size_t part) {
  std::set<int> labels;
  for (const std::uint32_t sample : parts[part]) labels.insert(data.labels[sample]);
  return labels;
}

class PartitionOf : public testing::TestWithParam<std::size_t> {
 protected:
  Parts parts(Partition kind, std::uint64_t seed = 1) const {
    return partition_samples(data_, samples_,
                             {.kind = kind, .parts = GetParam(), .seed = seed});
  }

  Dataset data_ = labelled(1000);
  Samples samples_ = some_samples(data_);
};

INSTANTIATE_TEST_SUITE_P(Workers, PartitionOf, testing::Range<std::size_t>(1, 11));

TEST_P(PartitionOf, EveryKindHasAscendingPartsOfTheSamples) {
  for (const Partition kind : kKinds) {
    const Parts found = parts(kind);
    ASSERT_EQ(found.count(), GetParam());
    for (std::size_t i = 0; i < found.count(); ++i) {
      const Samples part = part_of(found, i);
      EXPECT_FALSE(part.empty());
      EXPECT_TRUE(std::ranges::is_sorted(part));
      EXPECT_EQ(std::ranges::adjacent_find(part), part.end()) << "no sample twice";
      EXPECT_TRUE(std::ranges::includes(samples_, part));
    }
  }
}

TEST_P(PartitionOf, IidIsDisjointWholeAndNearlyEqual) {
  const Parts found = parts(Partition::iid);

  EXPECT_THAT(all_of(found), testing::UnorderedElementsAreArray(samples_));
  EXPECT_LE(found.longest() - found.shortest(), 1u);
}

TEST_P(PartitionOf, SharedIsEverythingForEverybody) {
  const Parts found = parts(Partition::shared);

  for (std::size_t i = 0; i < found.count(); ++i) EXPECT_EQ(part_of(found, i), samples_);
  EXPECT_EQ(found.samples(), GetParam() * samples_.size());
}

TEST_P(PartitionOf, UnscaledLabelsHaveAllSamplesOfLabelsThatNobodyElseHas) {
  const Parts found = parts(Partition::labels_unscaled);

  EXPECT_THAT(all_of(found), testing::UnorderedElementsAreArray(samples_));
  std::size_t labels = 0;
  for (std::size_t i = 0; i < found.count(); ++i) {
    const std::size_t own = labels_of(data_, found, i).size();
    labels += own;
    EXPECT_EQ(own, even_part(10, GetParam(), i).size()) << "dealt in turn";
  }
  EXPECT_EQ(labels, 10u) << "no label is in two parts";
}

TEST_P(PartitionOf, LabelsAreTheUnscaledOnesCutToTheShortest) {
  const Parts whole = parts(Partition::labels_unscaled);
  const Parts found = parts(Partition::labels);

  EXPECT_EQ(found.shortest(), whole.shortest());
  EXPECT_EQ(found.longest(), whole.shortest());
  for (std::size_t i = 0; i < found.count(); ++i) {
    EXPECT_TRUE(std::ranges::includes(part_of(whole, i), part_of(found, i)));
    EXPECT_EQ(labels_of(data_, found, i), labels_of(data_, whole, i))
        << "what stays is chosen from all of it";
  }
}

TEST_P(PartitionOf, EveryKindFollowsTheSeed) {
  for (const Partition kind : kKinds) {
    EXPECT_EQ(all_of(parts(kind)), all_of(parts(kind)));
    if (kind == Partition::shared || GetParam() == 1) continue;
    EXPECT_NE(all_of(parts(kind, 1)), all_of(parts(kind, 2)));
  }
}

TEST_P(PartitionOf, CountsAddUp) {
  for (const Partition kind : kKinds) {
    const Parts found = parts(kind);
    const std::vector<std::uint64_t> counts = label_counts(data_, found);

    ASSERT_EQ(counts.size(), GetParam() * 10);
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}),
              found.samples());
    for (std::size_t i = 0; i < counts.size(); ++i) {
      EXPECT_EQ(counts[i] > 0, labels_of(data_, found, i / 10).contains(int(i % 10)));
    }
  }
}

TEST(Partition, OfOneWorkerIsAllSamplesAscending) {
  const Dataset data = labelled(200);
  const Samples samples = some_samples(data);

  for (const Partition kind : kKinds) {
    EXPECT_EQ(part_of(partition_samples(data, samples, {.kind = kind}), 0), samples);
  }
}

TEST(Partition, CutsAtRandomAndNotTheSameForEverybody) {
  const Dataset data = labelled(1000);
  Samples samples(1000);
  std::iota(samples.begin(), samples.end(), 0u);
  const PartitionOptions options{.kind = Partition::labels, .parts = 10};
  const Parts parts = partition_samples(data, samples, options);

  std::set<Samples> kept;  // as places among the samples of the label
  int cut = 0;
  for (std::size_t i = 0; i < 10; ++i) {
    const int label = *labels_of(data, parts, i).begin();
    Samples of_label, places;
    std::ranges::copy_if(
        samples, std::back_inserter(of_label),
        [&](std::uint32_t sample) { return data.labels[sample] == label; });
    if (of_label.size() == parts.shortest()) continue;
    ++cut;
    for (const std::uint32_t sample : parts[i]) {
      places.push_back(static_cast<std::uint32_t>(std::ranges::find(of_label, sample) -
                                                  of_label.begin()));
    }
    EXPECT_GT(places.back(), parts.shortest()) << "not just the first ones";
    kept.insert(places);
  }
  EXPECT_GT(cut, 5);
  EXPECT_EQ(kept.size(), static_cast<std::size_t>(cut));
}

TEST(Partition, RefusesMorePartsThanLabels) {
  const Dataset data = labelled(100);
  const Samples few = {0, 1, 10, 20, 21};  // of two labels

  for (const Partition kind : {Partition::labels, Partition::labels_unscaled}) {
    expect_error(InputKind::settings, {"data.partition", "3 parts", "at most 2 parts"},
                 [&] { partition_samples(data, few, {.kind = kind, .parts = 3}); });
    EXPECT_EQ(partition_samples(data, few, {.kind = kind, .parts = 2}).count(), 2u);
  }
}

TEST(Partition, RefusesMorePartsThanSamples) {
  const Dataset data = labelled(100);

  expect_error(InputKind::settings, {"data.partition", "4 parts of 3 samples"}, [&] {
    partition_samples(data, Samples{1, 2, 3}, {.parts = 4});
  });
}

TEST(Partition, OfMicrobatchesNeedsEqualSlices) {
  check_partition_for_microbatches(Partition::iid, 10, 3);
  check_partition_for_microbatches(Partition::labels, 12, 3);
  check_partition_for_microbatches(Partition::shared, 12, 3);

  expect_error(
      InputKind::settings, {"data.partition", "labels_unscaled", "ps_async"},
      [] { check_partition_for_microbatches(Partition::labels_unscaled, 12, 3); });
  expect_error(InputKind::settings,
               {"train.batch_size", "10 samples in 3 micro-batches", "=9"},
               [] { check_partition_for_microbatches(Partition::shared, 10, 3); });
}

}  // namespace
}  // namespace convoy
