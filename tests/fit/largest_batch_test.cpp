// SPDX-License-Identifier: Apache-2.0

#include "convoy/fit/largest_batch.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "convoy/base/error.h"
#include "convoy/fit/fit_report.h"
#include "tests/base/expect_error.h"
#include "tests/train/small_settings.h"

namespace convoy {
namespace {

constexpr int kSamples = 600;
constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;

class LargestBatch : public testing::Test {
 protected:
  LargestBatch() {
    settings_ = small_settings(kSamples, /*test_count=*/20, /*batch_size=*/64,
                               /*threads=*/1);
    settings_.model.name = "resnet18_cifar";
    set_small_images(settings_.model.name, settings_);
    settings_.data.synthetic.channels = 3;
    settings_.data.synthetic.height = settings_.data.synthetic.width = 8;
    work_.emplace(load_workload(settings_));
    planner_.emplace(*work_);
  }

  std::size_t bytes_with(int batch, std::size_t recompute_units = 0) {
    Settings settings = settings_;
    settings.train.batch_size = batch;
    return planner_->machine_total(settings, job_, recompute_units);
  }
  int largest(std::uint64_t limit, std::size_t recompute_units = 0) {
    return largest_batch(*planner_, settings_, job_, recompute_units, limit, kSamples);
  }
  RunMemory planned_within(std::size_t bytes) {
    settings_.cluster.memory_gib = static_cast<double>(bytes) / kGibibyte;
    return plan_run_memory(settings_, *work_, job_, {});
  }

  Settings settings_;
  JobShape job_{};
  std::optional<Workload> work_;
  std::optional<MemoryPlanner> planner_;
};

TEST_F(LargestBatch, FitsAndTheNextDoesNot) {
  for (const int batch : {17, 100, 333}) {
    const std::size_t limit = bytes_with(batch);

    const int found = largest(limit);

    EXPECT_GE(found, batch);
    EXPECT_LE(bytes_with(found), limit);
    EXPECT_GT(bytes_with(found + 1), limit);
  }
}

TEST_F(LargestBatch, IsFoundInEveryPrecisionIfTheKernelsAreForOne) {
  settings_.precision.name = PrecisionChoice::bf16;
  settings_.network.kernels = KernelsChoice::reference_plus_bf16;

  const FitReport report =
      fit_batches(settings_, *work_, {1}, {.bytes = 64 << 20, .source = ""});

  for (const PrecisionChoice precision :
       {PrecisionChoice::fp32, PrecisionChoice::amp_o2, PrecisionChoice::bf16}) {
    EXPECT_GT(std::ranges::count(report.rows, precision, &FitRow::precision), 0);
  }
}

TEST_F(LargestBatch, IsAtMostAnEpochAndNothingWhereNoneFits) {
  EXPECT_EQ(largest(std::uint64_t{1} << 60), kSamples);
  EXPECT_EQ(largest(1 << 20), 0);
}

TEST_F(LargestBatch, IsLargerIfUnitsAreRecomputed) {
  const std::size_t limit = bytes_with(200);

  EXPECT_GT(largest(limit, kAllUnits), largest(limit) * 5 / 4);
}

TEST_F(LargestBatch, HasASampleForEveryRank) {
  job_ = {.strategy = "ddp", .ranks = 4, .local_ranks = 4};
  settings_.train.batch_size = 4;
  const std::size_t limit = bytes_with(4);

  EXPECT_GE(largest(limit), 4);
  EXPECT_EQ(largest(limit - 1), 0);
}

TEST_F(LargestBatch, RecomputesAsLittleAsFits) {
  settings_.train.recompute = RecomputeChoice::auto_;
  settings_.train.batch_size = 512;
  const std::size_t all = bytes_with(512, kAllUnits), none = bytes_with(512);

  EXPECT_EQ(planned_within(none + (1 << 20)).recompute_units, 0u);
  const std::size_t some = planned_within((all + none) / 2).recompute_units;
  EXPECT_GT(some, 0u);
  EXPECT_LT(some, work_->layout.unit_count());
  EXPECT_LE(bytes_with(512, some), (all + none) / 2);
  EXPECT_GT(bytes_with(512, some - 1), (all + none) / 2);
}

TEST_F(LargestBatch, IsNamedWhereABatchIsRefused) {
  settings_.train.batch_size = 512;
  const std::size_t limit = bytes_with(256);
  const int plain = largest(limit), again = largest(limit, kAllUnits);

  expect_error(InputKind::settings,
               {"memory", "planned with train.batch_size=512", "cluster.memory_gib",
                "train.batch_size=" + std::to_string(plain),
                "train.batch_size=" + std::to_string(again) + " train.recompute=units"},
               [&] { planned_within(limit); });
}

}  // namespace
}  // namespace convoy
