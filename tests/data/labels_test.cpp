// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/base/expect_error.h"

namespace convoy {
namespace {

using testing::ElementsAre;
using Labels = std::vector<std::int32_t>;

TEST(Labels, TakeOneByteInFilesOfUpTo256Classes) {
  const std::vector<std::uint8_t> bytes = encode_labels(Labels{0, 7, 255}, 256);

  EXPECT_THAT(bytes, ElementsAre(0, 7, 255));
  EXPECT_THAT(decode_labels(bytes, 256), ElementsAre(0, 7, 255));
  EXPECT_THAT(widened(bytes), ElementsAre(0, 7, 255));
}

TEST(Labels, TakeFourBytesInFilesOfMoreClasses) {
  const std::vector<std::uint8_t> bytes = encode_labels(Labels{1, 0x030201}, 1'000'000);

  EXPECT_THAT(bytes, ElementsAre(1, 0, 0, 0, 1, 2, 3, 0));
  EXPECT_THAT(decode_labels(bytes, 1'000'000), ElementsAre(1, 0x030201));
}

TEST(Labels, OutOfRangeAreRefusedWithTheirSample) {
  EXPECT_NO_THROW(check_labels(Labels{0, 299}, 300, "a file"));
  expect_error(InputKind::data, {"a file", "label 300 at sample 1", "from 0 to 299"}, [] {
    check_labels(Labels{0, 300}, 300, "a file");
  });
  expect_error(InputKind::data, {"label -1 at sample 0"},
               [] { check_labels(Labels{-1}, 300, "a file"); });
}

}  // namespace
}  // namespace convoy
