// SPDX-License-Identifier: Apache-2.0

#include "convoy/base/text.h"

#include <gtest/gtest.h>

#include <vector>

namespace convoy {
namespace {

struct NameCase {
  const char* what;
  const char* name;
  const char* nearest;
};

class NearestName : public testing::TestWithParam<NameCase> {};

TEST_P(NearestName, IsTheOneWithTheFewestEditsIfThatIsFewEnough) {
  const std::vector<std::string> names = {"train.epochs", "train.batch_size", "lenet5",
                                          "cnn1", "mlp6"};

  EXPECT_EQ(nearest_name(GetParam().name, names), GetParam().nearest);
}

INSTANTIATE_TEST_SUITE_P(
    Names, NearestName,
    testing::Values(NameCase{"Same", "cnn1", "cnn1"},
                    NameCase{"OneLetterLess", "train.epoch", "train.epochs"},
                    NameCase{"OneLetterMore", "lenet55", "lenet5"},
                    NameCase{"OtherLetter", "lenet4", "lenet5"},
                    NameCase{"SwappedLetters", "mpl6", "mlp6"},
                    NameCase{"HyphenForDot", "train-batchsize", "train.batch_size"},
                    NameCase{"FarFromAll", "resnet152", ""}, NameCase{"Empty", "", ""}),
    [](const auto& info) { return info.param.what; });

TEST(NearestNameOfNone, IsNothing) {
  EXPECT_EQ(nearest_name("cnn1", std::vector<std::string>{}), "");
}

TEST(NearestNameOfEquals, IsTheFirst) {
  EXPECT_EQ(nearest_name("cnnx", std::vector<std::string>{"cnn1", "cnn2"}), "cnn1");
}

TEST(Join, PutsSeparatorsBetweenOnly) {
  EXPECT_EQ(join(std::vector<std::string>{}), "");
  EXPECT_EQ(join(std::vector<std::string>{"a"}), "a");
  EXPECT_EQ(join(std::vector<std::string>{"a", "b", "c"}), "a, b, c");
  EXPECT_EQ(join(std::vector<std::string>{"a", "b"}, " | "), "a | b");
}

TEST(WithCommas, GroupsByThousands) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1000), "1,000");
  EXPECT_EQ(with_commas(61706), "61,706");
  EXPECT_EQ(with_commas(123456), "123,456");
  EXPECT_EQ(with_commas(18446744073709551615u), "18,446,744,073,709,551,615");
}

TEST(HumanBytes, HasOneDecimalOfTheLargestUnitThatFits) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(1023), "1023 B");
  EXPECT_EQ(human_bytes(1024), "1.0 KiB");
  EXPECT_EQ(human_bytes(1536), "1.5 KiB");
  EXPECT_EQ(human_bytes(5ull << 20), "5.0 MiB");
  EXPECT_EQ(human_bytes(3ull << 30), "3.0 GiB");
  EXPECT_EQ(human_bytes(2048ull << 40), "2048.0 TiB");
}

TEST(HumanDuration, IsReadAsAClock) {
  EXPECT_EQ(human_duration(0), "0:00");
  EXPECT_EQ(human_duration(-3), "0:00");
  EXPECT_EQ(human_duration(9.4), "0:09");
  EXPECT_EQ(human_duration(59.6), "1:00");
  EXPECT_EQ(human_duration(75.2), "1:15");
  EXPECT_EQ(human_duration(3599.4), "59:59");
  EXPECT_EQ(human_duration(3675), "1:01:15");
  EXPECT_EQ(human_duration(90000), "25:00:00");
}

}  // namespace
}  // namespace convoy
