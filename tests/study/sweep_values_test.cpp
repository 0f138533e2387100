// SPDX-License-Identifier: Apache-2.0
//
// The grammar of swept values.

#include "convoy/study/sweep_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/base/expect_error.h"

namespace convoy {
namespace {

using ValueList = std::vector<std::string>;

SweptSetting swept_setting() {
  return {.where = "here",
          .names = {"lenet5", "resnet18", "resnet18_cifar", "resnet50", "vgg11"},
          .most_values = 100};
}

struct ValueCase {
  std::string text;
  ValueList values;
  bool swept = true;
};

class SweepGrammar : public testing::TestWithParam<ValueCase> {};

TEST_P(SweepGrammar, ReadsItsValues) {
  const SweepValues found = parse_sweep_values(GetParam().text, swept_setting());
  EXPECT_EQ(found.values, GetParam().values);
  EXPECT_EQ(found.swept, GetParam().swept);
  EXPECT_FALSE(found.interval);
}

INSTANTIATE_TEST_SUITE_P(
    Texts, SweepGrammar,
    testing::Values(
        ValueCase{"0.1", {"0.1"}, false}, ValueCase{"", {""}, false},
        ValueCase{"[1,2]", {"[1,2]"}, false}, ValueCase{"'a,b'", {"a,b"}, false},
        ValueCase{R"("it's")", {"it's"}, false}, ValueCase{R"('it\'s')", {"it's"}, false},
        ValueCase{"a,b , c", {"a", "b", "c"}},
        ValueCase{"[45000,5000,10000],[1,2,3]", {"[45000,5000,10000]", "[1,2,3]"}},
        ValueCase{"'a,b',c", {"a,b", "c"}}, ValueCase{"range(3)", {"0", "1", "2"}},
        ValueCase{"range(1,4)", {"1", "2", "3"}},
        ValueCase{"range(2, 9, 3)", {"2", "5", "8"}},
        ValueCase{"range(3,0,-1)", {"3", "2", "1"}},
        ValueCase{"range(0.1,0.4,0.1)", {"0.1", "0.2", "0.3"}},
        ValueCase{"range(-1,1,0.5)", {"-1", "-0.5", "0", "0.5"}},
        ValueCase{"range(1e-3,4e-3,1e-3)", {"0.001", "0.002", "0.003"}},
        ValueCase{"range(1,2)", {"1"}}, ValueCase{"choice(a,b)", {"a", "b"}},
        ValueCase{"choice('x,y',[1,2])", {"x,y", "[1,2]"}},
        ValueCase{"range(1,3),10", {"1", "2", "10"}},
        ValueCase{"glob(resnet*)", {"resnet18", "resnet18_cifar", "resnet50"}},
        ValueCase{"glob(resnet*,vgg*)",
                  {"resnet18", "resnet18_cifar", "resnet50", "vgg11"}},
        ValueCase{"glob(*,exclude=resnet*)", {"lenet5", "vgg11"}}));

TEST(SweepGrammarOfIntervals, IsThatOfHydraAndAShortForm) {
  for (const char* text : {"log_interval(1e-4, 0.1)", "tag(log, interval(1e-4, 0.1))"}) {
    const SweepValues found = parse_sweep_values(text, swept_setting());
    ASSERT_TRUE(found.interval);
    EXPECT_EQ(found.interval->low, 1e-4);
    EXPECT_EQ(found.interval->high, 0.1);
    EXPECT_TRUE(found.interval->log);
  }
  EXPECT_FALSE(parse_sweep_values("interval(0,1)", swept_setting()).interval->log);
}

struct BadValueCase {
  std::string text, message;
};

class BadSweepGrammar : public testing::TestWithParam<BadValueCase> {};

TEST_P(BadSweepGrammar, IsRefused) {
  expect_error(InputKind::settings, {"here", GetParam().message},
               [] { parse_sweep_values(GetParam().text, swept_setting()); });
}

INSTANTIATE_TEST_SUITE_P(
    Texts, BadSweepGrammar,
    testing::Values(BadValueCase{"a,,b", "nothing between two commas"},
                    BadValueCase{"a,", "nothing between two commas"},
                    BadValueCase{"a,a", "a twice"},
                    BadValueCase{"[1,2", "brackets and quotes in pairs"},
                    BadValueCase{"'a", "brackets and quotes in pairs"},
                    BadValueCase{"a),(b", "brackets and quotes in pairs"},
                    BadValueCase{"range()", "range(stop)"},
                    BadValueCase{"range(1,2,3,4)", "range(stop)"},
                    BadValueCase{"range(a,b)", "range(a,b)"},
                    BadValueCase{"range(1,2,0)", "a step other than 0"},
                    BadValueCase{"range(0,1e300)", "up to 15 digits"},
                    BadValueCase{"range(3,3)", "no value"},
                    BadValueCase{"range(10000000)", "10,000,000 values"},
                    BadValueCase{"choice()", "no value"},
                    BadValueCase{"glob(alex*)", "no value"},
                    BadValueCase{"interval(2,1)", "the smaller first"},
                    BadValueCase{"interval(0,1),3", "one interval"},
                    BadValueCase{"log_interval(0,1)", "above 0"},
                    BadValueCase{"ranges(3)", "one of range"}));

TEST(SweepGrammarOfGlobs, NeedsASettingWithNames) {
  expect_error(InputKind::settings, {"there", "one of some names"},
               [] { parse_sweep_values("glob(*)", {.where = "there"}); });
}

}  // namespace
}  // namespace convoy
