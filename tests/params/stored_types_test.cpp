// SPDX-License-Identifier: Apache-2.0

#include "convoy/params/stored_types.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace convoy {
namespace {

using testing::ElementsAre;

/// A weight of three numbers, a norm of two and two, and a bias of one, padded to twelve.
Layout with_a_norm() {
  LayoutBuilder builder(/*unit_multiple=*/4);
  builder.begin_unit();
  builder.add("conv.weight", {3}, Role::weight);
  builder.add("norm.weight", {2}, Role::norm_scale);
  builder.add("norm.bias", {2}, Role::norm_shift);
  builder.begin_unit();
  builder.add("fc.bias", {1}, Role::bias);
  return std::move(builder).build();
}

TEST(StoredTypes, AreFp32ByDefault) {
  const StoredTypes types;
  std::vector<float> numbers = {0.1f, 0.2f};
  types.round({5, 7}, numbers.data());
  EXPECT_THAT(numbers, ElementsAre(0.1f, 0.2f));
  EXPECT_EQ(types.bytes({5, 7}), 8u);
}

TEST(StoredTypes, RoundEverythingButNorms) {
  const Layout layout = with_a_norm();
  const StoredTypes types(layout, Dtype::bf16);
  std::vector<float> numbers(layout.size(), 0.1f);
  types.round({0, layout.size()}, numbers.data());
  for (const Segment& segment : layout.segments()) {
    const bool is_norm = segment.name.starts_with("norm");
    EXPECT_EQ(numbers[segment.range.begin], is_norm ? 0.1f : round_to(Dtype::bf16, 0.1f))
        << segment.name;
  }
}

TEST(StoredTypes, PackAnyRangeAndUnpackIt) {
  const Layout layout = with_a_norm();
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16}) {
    const StoredTypes types(layout, dtype);
    std::vector<float> numbers(layout.size());
    std::iota(numbers.begin(), numbers.end(), 0.3f);
    types.round({0, layout.size()}, numbers.data());
    for (std::size_t begin = 0; begin <= layout.size(); ++begin) {
      for (std::size_t end = begin; end <= layout.size(); ++end) {
        const Range range{begin, end};
        std::vector<float> found(range.size(), -1);
        std::vector<std::byte> packed(types.bytes(range));
        types.pack(range, numbers.data() + begin, packed.data());
        types.unpack(range, packed.data(), found.data());
        EXPECT_TRUE(std::equal(found.begin(), found.end(),
                               numbers.begin() + static_cast<int>(begin)))
            << begin << " to " << end;
      }
    }
  }
}

TEST(StoredTypes, CountTheBytesOfEachType) {
  const StoredTypes types(with_a_norm(), Dtype::fp16);
  EXPECT_EQ(types.bytes({0, 3}), 6u);
  EXPECT_EQ(types.bytes({2, 5}), 2u + 8u);
  EXPECT_EQ(types.bytes({4, 6}), 8u);
}

}  // namespace
}  // namespace convoy
