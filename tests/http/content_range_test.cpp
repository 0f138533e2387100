// SPDX-License-Identifier: Apache-2.0

#include "convoy/http/content_range.h"

#include <gtest/gtest.h>

namespace convoy {
namespace {

TEST(ContentRange, HasTheFirstByteAndTheBytesOfTheFile) {
  const ContentRange range = content_range("bytes 512-1023/146515");

  EXPECT_EQ(range.first, 512u);
  EXPECT_EQ(range.total, 146515u);
  EXPECT_EQ(content_range("bytes 0-1/*").first, 0u);
  EXPECT_FALSE(content_range("bytes 0-1/*").total);
  EXPECT_EQ(content_range("bytes */10").total, 10u);
  EXPECT_FALSE(content_range("bytes */10").first);
}

TEST(ContentRange, HasNothingThatIsNoNumberOfBytes) {
  for (const char* header :
       {"", "/", "bytes", "bytes nan-1/nan", "bytes -1/-1", "bytes 1e2-3/1e3",
        "bytes 1.5-2/2.5", "bytes 99999999999999999999-1/99999999999999999999",
        "bytes 1000000000000001-1/1000000000000001", "bytes inf-1/inf"}) {
    EXPECT_FALSE(content_range(header).first) << header;
    EXPECT_FALSE(content_range(header).total) << header;
  }
}

TEST(ContentRange, IsRefusedIfItBeginsElsewhere) {
  EXPECT_EQ(wrong_begin(7, 7), "");
  EXPECT_EQ(wrong_begin(0, 1 << 20), "bytes from 0, not from 1,048,576");
  EXPECT_EQ(wrong_begin({}, 1), "bytes from somewhere, not from 1");
}

}  // namespace
}  // namespace convoy
