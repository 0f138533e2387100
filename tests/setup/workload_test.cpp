// SPDX-License-Identifier: Apache-2.0

#include "convoy/setup/workload.h"

#include <gtest/gtest.h>

#include "tests/base/expect_error.h"
#include "tests/train/small_settings.h"

namespace convoy {
namespace {

Settings settings_of(const std::string& partition) {
  Settings settings = small_settings(/*train_count=*/100, /*test_count=*/10,
                                     /*batch_size=*/16, /*threads=*/1);
  settings.data.partition = partition;
  settings.data.val_fraction = 0.1;
  return settings;
}

TEST(Workload, CutsTheTrainingSamplesIntoParts) {
  const Workload work = load_workload(settings_of("labels_unscaled"));
  const Parts parts = partition_of(settings_of("labels_unscaled"), work.data.train,
                                   work.samples, /*workers=*/3);

  EXPECT_EQ(parts.count(), 3u);
  EXPECT_EQ(parts.samples(), 90u);
  expect_error(InputKind::settings, {"data.partition"}, [&] {
    partition_of(settings_of("labels"), work.data.train, work.samples, /*workers=*/11);
  });
}

TEST(Workload, GivesPartsToMicrobatchesUnlessWorkersHaveThem) {
  Settings settings = settings_of("labels");
  const Workload work = load_workload(settings);
  EXPECT_EQ(loader_options(settings, work, all_microbatches(4)).partition,
            Partition::labels);

  settings.strategy.name = "ps_async";
  EXPECT_EQ(loader_options(settings, work, all_microbatches(4)).partition,
            Partition::iid);
}

}  // namespace
}  // namespace convoy
