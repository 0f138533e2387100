// SPDX-License-Identifier: Apache-2.0

#include "convoy/base/aligned.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "convoy/system/memory.h"

namespace convoy {
namespace {

TEST(AlignedBuffer, IsZeroAndOnCacheLines) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{1000}, kLarge}) {
    const AlignedBuffer<float> buffer(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % kCacheLine, 0u);
    EXPECT_EQ(std::ranges::count(buffer.span(), 0.0f), static_cast<std::ptrdiff_t>(size));
  }
}

TEST(AlignedBuffer, TakesNoMemoryForWhatIsNotWritten) {
  const std::size_t before = resident_memory_bytes();
  const AlignedBuffer<float> buffer(64 * kLarge);
  EXPECT_LT(resident_memory_bytes(), before + 4 * kLarge);
}

}  // namespace
}  // namespace convoy
