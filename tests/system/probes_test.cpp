// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "convoy/network/kernels/kernel_sets.h"
#include "convoy/system/bandwidth_probe.h"
#include "convoy/system/cpu.h"
#include "convoy/system/fma_probe.h"

namespace convoy {
namespace {

using testing::ElementsAre;

TEST(FmaProbe, FindsSomeSpeedInEveryWidthOfThisProcessor) {
  ThreadTeam team(2);

  for (const FmaVectors vectors : fma_vectors(cpu_info().features)) {
    EXPECT_GT(fma_probe_gflops(team, /*milliseconds=*/5, vectors), 0.0)
        << name_of(vectors);
  }
}

TEST(FmaProbe, HasVectorsOfTheProcessorsFeatures) {
  constexpr auto kPlain = FmaVectors::plain, kAvx2 = FmaVectors::avx2,
                 kAvx512 = FmaVectors::avx512;

  EXPECT_THAT(fma_vectors(""), ElementsAre(kPlain));
  EXPECT_THAT(fma_vectors("sse4.2 avx2"), ElementsAre(kPlain));
  EXPECT_THAT(fma_vectors("sse4.2 avx2 fma"), ElementsAre(kAvx2, kPlain));
  EXPECT_THAT(fma_vectors("avx2 fma avx512f avx512bw avx512cd avx512dq avx512vl"),
              ElementsAre(kAvx512, kAvx2, kPlain));
}

TEST(FmaProbe, TakesNoPartOfAvx512ForTheWhole) {
  for (const std::string missing :
       {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}) {
    std::string features = "avx2 fma avx512f avx512bw avx512cd avx512dq avx512vl";
    features.erase(features.find(missing), missing.size());

    EXPECT_EQ(fma_vectors(features).front(), FmaVectors::avx2) << missing;
  }
}

TEST(FmaProbe, IsAsWideAsTheKernels) {
  const std::string kernels = name_of(best_kernel_set());
  const FmaVectors widest = widest_fma_vectors();

  EXPECT_EQ(widest == FmaVectors::avx512, kernels == "avx512") << kernels;
  EXPECT_EQ(widest == FmaVectors::avx2, kernels == "avx2") << kernels;
}

TEST(BandwidthProbe, FindsSomeSpeed) {
  ThreadTeam team(2);

  const Bandwidth found = probe_bandwidth(team, /*milliseconds=*/1);

  EXPECT_GT(found.one_thread, 0.0);
  EXPECT_GT(found.all_threads, 0.0);
}

TEST(BandwidthProbe, GoesThroughSeveralTimesTheCache) {
  constexpr std::size_t kMiB = std::size_t{1} << 20;

  EXPECT_EQ(bandwidth_probe_bytes(32 * kMiB), 128 * kMiB);
  EXPECT_EQ(bandwidth_probe_bytes(0), 128 * kMiB) << "the system does not say";
  EXPECT_EQ(bandwidth_probe_bytes(kMiB), 96 * kMiB);
  EXPECT_EQ(bandwidth_probe_bytes(260 * kMiB), 384 * kMiB);
}

}  // namespace
}  // namespace convoy
