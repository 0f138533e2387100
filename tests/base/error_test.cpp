// SPDX-License-Identifier: Apache-2.0

#include "convoy/base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace convoy {
namespace {

using testing::HasSubstr;

TEST(InputError, SaysWhereFoundExpectedAndHint) {
  const Fault fault = {.where = "run.yaml:14: train.epochs",
                       .found = "-3",
                       .expected = "a whole number from 1",
                       .hint = "leave it out for the default"};

  const InputError error(InputKind::settings, fault);

  EXPECT_EQ(error.kind(), InputKind::settings);
  EXPECT_STREQ(error.what(),
               "run.yaml:14: train.epochs\n"
               "  found:    -3\n"
               "  expected: a whole number from 1\n"
               "  hint:     leave it out for the default");
}

TEST(InputError, HasNoHintLineWithoutAHint) {
  const Fault fault = {.where = "--seed", .found = "x", .expected = "a number", .hint{}};

  const InputError error(InputKind::usage, fault);

  EXPECT_EQ(error.kind(), InputKind::usage);
  EXPECT_STREQ(error.what(),
               "--seed\n"
               "  found:    x\n"
               "  expected: a number");
}

TEST(InputError, HasNoEscapeCodesOfWhatItQuotes) {
  const InputError error(InputKind::data, {.where = "a\x1b]0;b\x07",
                                           .found = "\x1b[2J",
                                           .expected = "samples of \x9b",
                                           .hint = "data=\x1b"});

  EXPECT_STREQ(error.what(),
               "a?]0;b?\n  found:    ?[2J\n  expected: samples of ?\n  hint:     data=?");
}

TEST(StorageError, NamesThePathTheAttemptAndTheCause) {
  const InputError error = storage_error("/data/x", "read this file", ENOENT);

  EXPECT_EQ(error.kind(), InputKind::storage);
  EXPECT_STREQ(error.what(),
               "/data/x\n"
               "  found:    No such file or directory\n"
               "  expected: to read this file");
}

struct HintCase {
  const char* name;
  int cause;
  const char* hint;
};

class StorageErrorHint : public testing::TestWithParam<HintCase> {};

TEST_P(StorageErrorHint, FitsTheCause) {
  const InputError error = storage_error("/x", "write this file", GetParam().cause);

  EXPECT_THAT(error.what(), HasSubstr(GetParam().hint));
}

INSTANTIATE_TEST_SUITE_P(
    Causes, StorageErrorHint,
    testing::Values(HintCase{"FullDisk", ENOSPC, "free some space"},
                    HintCase{"FullQuota", EDQUOT, "free some space"},
                    HintCase{"NoPermission", EACCES, "check the permissions"},
                    HintCase{"NotPermitted", EPERM, "check the permissions"},
                    HintCase{"ReadOnly", EROFS, "check the permissions"}),
    [](const auto& info) { return info.param.name; });

TEST(PeerError, SaysWhoAndWhatFor) {
  const PeerError error(3, "no gradients within 30 s");

  EXPECT_EQ(error.rank(), 3);
  EXPECT_STREQ(error.what(), "rank 3: no gradients within 30 s");
}

TEST(CheckDeathTest, EndsTheProcessNamingTheClaimAndTheLine) {
  check(true, "this does nothing");

  EXPECT_DEATH(check(false, "two is one", "somewhere.cpp", 7),
               "bug: this should hold: two is one \\(somewhere.cpp:7\\)");
  EXPECT_DEATH(check(false, "the caller is named"), "error_test.cpp:");
}

}  // namespace
}  // namespace convoy
