// SPDX-License-Identifier: Apache-2.0
//
// Every model ends at the same bits with every kernel set of this processor.

#include "convoy/network/kernels/kernel_sets.h"

#include <gtest/gtest.h>

#include "tests/network/short_training.h"

namespace convoy {
namespace {

class EveryKernelSet : public testing::TestWithParam<std::string> {};

TEST_P(EveryKernelSet, TrainsToTheBitsOfTheReference) {
  const auto train_with = [](KernelSet kernels) {
    return train({.model = GetParam(), .steps = 1, .threads = 2, .kernels = kernels});
  };
  const std::string expected = train_with(KernelSet::reference);

  for (const KernelSet set : available_kernel_sets()) {
    if (set == KernelSet::reference) continue;
    EXPECT_EQ(train_with(set), expected) << name_of(set);
  }
}

/// Activations of bf16: whatever the kernels, the threads, and what is recomputed.
TEST_P(EveryKernelSet, TrainsToTheBitsOfTheReferenceInSixteenBits) {
  Training run = {.model = GetParam(),
                  .steps = 1,
                  .threads = 2,
                  .kernels = KernelSet::reference,
                  .activations = Dtype::bf16};
  const std::string expected = train(run);

  run.recompute_units = kAllUnits;
  run.threads = 3;
  for (const KernelSet set : available_kernel_sets()) {
    if (set == KernelSet::reference) continue;
    run.kernels = set;
    EXPECT_EQ(train(run), expected) << name_of(set);
    run.threads = 1;
  }
  run.activations = Dtype::fp32;
  EXPECT_NE(train(run), expected);
}

INSTANTIATE_TEST_SUITE_P(Models, EveryKernelSet, testing::ValuesIn(names_of_all()),
                         [](const auto& info) { return info.param; });

class KernelSetsWith : public testing::TestWithParam<Products> {
 protected:
  const std::vector<KernelSet> sets = available_kernel_sets(GetParam());
};

/// 1x1 convolutions; attention trains so in tests/train/same_bits_test.cpp.
TEST_P(KernelSetsWith, ProductsOfBf16TrainToBitsOfTheirOwnWhateverIsRecomputed) {
  Training run = {.model = "mobilenet_v3_small",
                  .batch = 5,
                  .steps = 1,
                  .kernels = sets.back(),
                  .activations = Dtype::bf16};
  const std::string expected = train(run);

  run.threads = 2;
  run.recompute_units = kAllUnits;
  for (const KernelSet set : sets) {
    run.kernels = set;
    EXPECT_EQ(train(run), expected) << name_of(set);
  }
  for (const Products other : {Products::fp32, Products::bf16_dot, Products::bf16_amx}) {
    run.kernels = available_kernel_sets(other).front();
    EXPECT_EQ(train(run) == expected, other == GetParam()) << name_of(run.kernels);
  }
}

TEST(KernelSets, AreTheBestFirstAndTheReferenceLast) {
  const std::vector<KernelSet> sets = available_kernel_sets();

  EXPECT_EQ(sets.back(), KernelSet::reference);
  EXPECT_TRUE(std::ranges::is_sorted(sets));
  EXPECT_EQ(best_kernel_set(), sets.front());
}

TEST_P(KernelSetsWith, TheSameProductsEndWithThePlainOne) {
  EXPECT_TRUE(std::ranges::all_of(
      sets, [](KernelSet set) { return products_of(set) == GetParam(); }));
  EXPECT_THAT(name_of(sets.back()), testing::StartsWith("reference"));
}

INSTANTIATE_TEST_SUITE_P(Kinds, KernelSetsWith,
                         testing::Values(Products::bf16_dot, Products::bf16_amx));

TEST(KernelSets, AreListedByName) {
  EXPECT_EQ(names_of({KernelSet::avx512, KernelSet::neon}), "avx512, neon");
  EXPECT_EQ(names_of({KernelSet::avx512_bf16, KernelSet::reference_bf16}),
            "avx512+bf16, reference+bf16");
  EXPECT_EQ(names_of({KernelSet::avx512_amx, KernelSet::reference_amx}),
            "avx512+amx, reference+amx");
}

}  // namespace
}  // namespace convoy
