// SPDX-License-Identifier: Apache-2.0

#include "convoy/setup/workload.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "convoy/base/error.h"
#include "tests/base/expect_error.h"
#include "tests/train/small_settings.h"

namespace convoy {
namespace {

Settings settings_of(PartitionChoice partition) {
  Settings settings = small_settings(/*train_count=*/100, /*test_count=*/10,
                                     /*batch_size=*/16, /*threads=*/1);
  settings.data.partition = partition;
  settings.data.val_fraction = 0.1;
  return settings;
}

TEST(Workload, CutsTheTrainingSamplesIntoParts) {
  const Workload work = load_workload(settings_of(PartitionChoice::labels_unscaled));
  const Parts parts = partition_of(settings_of(PartitionChoice::labels_unscaled),
                                   work.data.train, work.samples, /*workers=*/3);

  EXPECT_EQ(parts.count(), 3u);
  EXPECT_EQ(parts.samples(), 90u);
  expect_error(InputKind::settings, {"data.partition"}, [&] {
    partition_of(settings_of(PartitionChoice::labels), work.data.train, work.samples,
                 /*workers=*/11);
  });
}

TEST(Workload, GivesPartsToMicrobatchesUnlessWorkersHaveThem) {
  Settings settings = settings_of(PartitionChoice::labels);
  const Workload work = load_workload(settings);
  EXPECT_EQ(loader_options(settings, work, all_microbatches(4)).partition,
            Partition::labels);

  settings.strategy.name = StrategyChoice::ps_async;
  EXPECT_EQ(loader_options(settings, work, all_microbatches(4)).partition,
            Partition::iid);
}

/// The names of all choices but those that no registry has.
template <Choice T>
std::vector<std::string> names_but(std::vector<T> unregistered) {
  std::vector<std::string> names = choice_names<T>();
  for (const T choice : unregistered) std::erase(names, choice_name(choice));
  return names;
}

TEST(Workload, EveryStrategyAndOptimizerThatIsRegisteredCanBeChosenAndNoOther) {
  const std::vector<StrategyChoice> not_registered = {
      StrategyChoice::auto_, StrategyChoice::ps_sync, StrategyChoice::ps_async};

  EXPECT_EQ(names_but(not_registered), strategy_names());
  EXPECT_EQ(choice_names<OptimizerChoice>(), optimizer_names());
}

TEST(Workload, MakesTheOptionsThatTheChoicesName) {
  Settings settings = settings_of(PartitionChoice::iid);
  const Workload work = load_workload(settings);
  settings.train.augment = AugmentChoice::crop_alternate;
  settings.network = {.kernels = KernelsChoice::reference,
                      .winograd = WinogradChoice::off};
  settings.schedule.name = ScheduleChoice::linear;
  settings.schedule.anneal = AnnealChoice::linear;

  EXPECT_EQ(loader_options(settings, work, all_microbatches(4)).augmentation,
            Augmentation::crop_alternate);
  EXPECT_EQ(network_options(settings, 1).kernels, KernelSet::reference);
  EXPECT_EQ(network_options(settings, 1).winograd, WinogradMode::off);
  EXPECT_EQ(schedule_options(settings, 1, 1).curve, Curve::linear);
  EXPECT_TRUE(schedule_options(settings, 1, 1).one_cycle.linear);
}

Settings plain_settings() {
  return small_settings(/*train_count=*/100, /*test_count=*/10, /*batch_size=*/16,
                        /*threads=*/1);
}

TEST(Workload, SplitsBothHalvesAnew) {
  Settings settings = plain_settings();
  settings.data.split = {70, 10, 25};
  const Workload work = load_workload(settings);

  EXPECT_EQ(work.data.train.size(), 80u);
  EXPECT_EQ(evaluation_set(work, "train").samples.size(), 70u);
  EXPECT_EQ(evaluation_set(work, "val").samples.size(), 10u);
  EXPECT_EQ(evaluation_set(work, "val").samples.front(), 70u);
  EXPECT_EQ(evaluation_set(work, "test").samples.size(), 25u);
  EXPECT_EQ(&evaluation_set(work, "test").data, &work.data.test);
}

TEST(Workload, DividesIntoFoldsWhatTheTrainFractionLeaves) {
  Settings settings = settings_of(PartitionChoice::iid);
  settings.data.val_fraction = 0;
  settings.data.train_fraction = 0.5;
  settings.data.folds = 4;
  settings.data.fold = 3;
  const Split split = load_workload(settings).samples;

  EXPECT_EQ(split.validation.size(), 12u);
  EXPECT_EQ(split.train.size(), 38u);
}

TEST(Workload, RefusesASplitOfMoreSamplesThanThereAre) {
  Settings settings = plain_settings();
  settings.data.split = {70, 10, 31};
  expect_error(InputKind::settings, {"data.split", "70 + 10 + 31 = 111 samples", "110"},
               [&] { load_workload(settings); });
}

TEST(Workload, GivesTheModelResizedImages) {
  Settings settings = plain_settings();
  settings.data.resize = 40;
  const Workload work = load_workload(settings);

  EXPECT_EQ(work.data.train.shape, (Shape{1, 28, 28}));
  EXPECT_EQ(work.model.input, (Shape{1, 40, 40}));
  EXPECT_EQ(evaluation_set(work, "test").input(), work.model.input);
  EXPECT_EQ(training_images(work).shape(), work.model.input);
  EXPECT_EQ(loader_options(settings, work, {}).image, work.model.input);
  EXPECT_EQ(work.normalization, measure(work.data.train)) << "of the pixels as they were";
}

void expect_settings_refused(const Settings& settings, const std::string& name) {
  expect_error(InputKind::settings, {name + "\n"}, [&] { load_data_pair(settings); });
}

TEST(Workload, RefusesSettingsOfImageFilesForImagesInMemory) {
  Settings settings = settings_of(PartitionChoice::iid);
  settings.train.augment = AugmentChoice::imagenet;
  expect_settings_refused(settings, "train.augment");
}

TEST(Workload, RefusesSettingsOfImagesInMemoryForImageFiles) {
  Settings files = settings_of(PartitionChoice::iid);
  files.data.name = "imagefolder";
  expect_settings_refused(files, "data.normalize");
  files.data.normalize = NormalizeChoice::fixed;
  files.data.mean = files.data.std = {0.5};
  expect_error(InputKind::storage, {"data.root\n"}, [&] { load_data_pair(files); });
  Settings other = files;
  other.data.short_side = 100;
  expect_settings_refused(other, "data.short_side");
  other = files;
  other.data.resize = 32;
  expect_settings_refused(other, "data.resize");
  other = files;
  other.data.split = {10, 0, 10};
  expect_settings_refused(other, "data.split");
  other = files;
  other.data.corrupt = CorruptChoice::skip;
  other.strategy.name = StrategyChoice::ps_sync;
  expect_settings_refused(other, "data.corrupt");
}

/// What is said of a kernel set that is refused; empty if it is not.
std::string refusal_of_kernels(const Settings& settings) {
  try {
    network_options(settings, 1);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(KernelSetting, ChoosesTheBestOrAnyThatTheProcessorHas) {
  Settings settings;
  EXPECT_EQ(kernel_set(settings), available_kernel_sets().front());

  for (const KernelSet set : available_kernel_sets()) {
    settings.network.kernels = find_choice<KernelsChoice>(name_of(set)).value();
    EXPECT_EQ(kernel_set(settings), set);
    EXPECT_EQ(network_options(settings, 1).kernels, set);
  }
}

TEST(KernelSetting, ChoosesBf16ProductsWhereNumbersAreBf16) {
  Settings settings;
  settings.precision.name = PrecisionChoice::bf16;
  EXPECT_EQ(kernel_set(settings), best_kernel_set());

  for (const Products products : {Products::bf16_dot, Products::bf16_amx}) {
    for (const KernelSet set : available_kernel_sets(products)) {
      settings.network.kernels = find_choice<KernelsChoice>(name_of(set)).value();
      EXPECT_EQ(kernel_set(settings), set);
    }
  }
}

TEST(KernelSetting, IsRefusedIfItHasBf16ProductsAndNumbersAreOthers) {
  Settings settings;
  settings.network.kernels = KernelsChoice::reference_plus_bf16;
  settings.precision.name = PrecisionChoice::amp_o2;

  EXPECT_EQ(refusal_of_kernels(settings),
            "network.kernels\n"
            "  found:    reference+bf16 with precision=amp_o2\n"
            "  expected: precision=bf16: its products are of bf16 numbers\n"
            "  hint:     precision=bf16, or network.kernels=auto");
}

class KernelSettingOf : public testing::TestWithParam<KernelsChoice> {};

TEST_P(KernelSettingOf, Bf16ProductsIsRefusedWhereTheProcessorHasNone) {
  Settings settings;
  settings.precision.name = PrecisionChoice::bf16;
  settings.network.kernels = GetParam();
  const bool amx = GetParam() == KernelsChoice::avx512_plus_amx;
  if (available_kernel_sets(amx ? Products::bf16_amx : Products::bf16_dot).size() > 1)
    GTEST_SKIP() << "this processor has them";

  EXPECT_EQ(refusal_of_kernels(settings),
            fmt::format("network.kernels\n"
                        "  found:    avx512+{2}, which this processor does not have\n"
                        "  expected: auto or one of {0}: this processor has {1}\n"
                        "  hint:     network.kernels=auto; reference+{2} has the bits "
                        "of avx512+{2} and is slow",
                        names_of(available_kernel_sets()), name_of(best_kernel_set()),
                        amx ? "amx" : "bf16"));
}

INSTANTIATE_TEST_SUITE_P(Kinds, KernelSettingOf,
                         testing::Values(KernelsChoice::avx512_plus_bf16,
                                         KernelsChoice::avx512_plus_amx));

// No processor has both.
TEST(KernelSetting, IsRefusedWhereTheProcessorHasNoSuchKernels) {
  const std::vector<KernelSet> sets = available_kernel_sets();
  const bool neon = std::ranges::count(sets, KernelSet::neon) == 1;
  Settings settings;
  settings.network.kernels = neon ? KernelsChoice::avx2 : KernelsChoice::neon;

  EXPECT_EQ(refusal_of_kernels(settings),
            fmt::format("network.kernels\n"
                        "  found:    {}, which this processor does not have\n"
                        "  expected: auto or one of {}: this processor has {}\n"
                        "  hint:     network.kernels=auto: all kernels end at the same "
                        "bits",
                        neon ? "avx2" : "neon", names_of(sets), name_of(sets.front())));
}

}  // namespace
}  // namespace convoy
