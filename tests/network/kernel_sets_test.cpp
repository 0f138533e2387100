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
  const auto train_with = [](const Kernels& kernels) {
    return train({.model = GetParam(), .steps = 1, .threads = 2, .kernels = &kernels});
  };
  const std::string expected = train_with(reference_kernels());

  for (const KernelSet set : available_kernel_sets()) {
    if (set == KernelSet::reference) continue;
    EXPECT_EQ(train_with(kernels_of(set)), expected) << name_of(set);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, EveryKernelSet, testing::ValuesIn(names_of_all()),
                         [](const auto& info) { return info.param; });

TEST(KernelSets, AreTheBestFirstAndTheReferenceLast) {
  const std::vector<KernelSet> sets = available_kernel_sets();

  EXPECT_EQ(sets.back(), KernelSet::reference);
  EXPECT_TRUE(std::ranges::is_sorted(sets));
  EXPECT_EQ(&fast_kernels(), &kernels_of(sets.front()));
}

TEST(KernelSets, AreNamedAsTheirTables) {
  for (const KernelSet set : available_kernel_sets()) {
    EXPECT_STREQ(kernels_of(set).name, name_of(set));
  }
  EXPECT_EQ(names_of({KernelSet::avx512, KernelSet::neon}), "avx512, neon");
}

}  // namespace
}  // namespace convoy
