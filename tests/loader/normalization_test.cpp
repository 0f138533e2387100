// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/normalization.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "convoy/base/error.h"

namespace convoy {
namespace {

TEST(Normalization, IsExactOnAFewPixels) {
  const Dataset data{.shape = {1, 1, 3}, .images = {51, 102, 153}};
  const Normalization found = measure(data);

  EXPECT_DOUBLE_EQ(found.mean, 0.4);
  EXPECT_DOUBLE_EQ(found.deviation, std::sqrt(2.0 / 3) * 0.2);
}

TEST(Normalization, RefusesPixelsThatAreAllAlike) {
  const Dataset data{.name = "flat", .shape = {1, 1, 2}, .images = {9, 9}};
  try {
    measure(data);
    FAIL() << "a deviation of 0 was taken";
  } catch (const InputError& error) {
    EXPECT_EQ(error.kind(), InputKind::data);
    EXPECT_NE(std::string(error.what()).find("every pixel is 9"), std::string::npos);
  }
}

}  // namespace
}  // namespace convoy
