// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/apps/small_run.h"

namespace convoy {
namespace {

using testing::HasSubstr;
using testing::Not;

class CompareCommand : public ProgramTest {
 protected:
  nlohmann::json compared(const Arguments& more) const {
    const CommandResult result = convoy(Arguments{"compare", "--json"} + more);
    EXPECT_EQ(result.code, 0) << result.err;
    return nlohmann::json::parse(result.out);
  }
};

TEST_F(CompareCommand, PutsTrainedRunsBesideEachOther) {
  const Arguments same_bits = {"train.microbatches=2"};
  train("one", same_bits + Arguments{"strategy=single"});
  train("two", same_bits + Arguments{"-n", "2", "strategy=gather_scatter"});
  make_folders(here() / "runs" / "broken");
  write_atomically(here() / "runs" / "broken" / "config.yaml", "train: 3\n");

  const nlohmann::json json = compared({"runs", "--target", "0.00001"});

  ASSERT_EQ(json.at("runs").size(), 3);
  const auto& [broken, one, two] =
      std::tie(json.at("runs")[0], json.at("runs")[1], json.at("runs")[2]);
  EXPECT_EQ(broken.at("state"), "broken");
  EXPECT_EQ(one.at("weights_sha256"), two.at("weights_sha256"));
  EXPECT_EQ(one.at("settings").at("strategy.name"), "single");
  EXPECT_EQ(two.at("settings").at("strategy.name"), "gather_scatter");
  EXPECT_GT(two.at("bytes_sent"), 0);
  EXPECT_GT(two.at("reached").at("seconds"), 0);
  EXPECT_GT(one.at("peak_rss_bytes"), 1 << 20);

  const CommandResult text = convoy({"compare", "runs/one", "runs/two"});
  EXPECT_THAT(text.out, HasSubstr("gather_scatter"));
  EXPECT_THAT(text.out, HasSubstr("speed-up"));
  EXPECT_THAT(text.out, Not(HasSubstr("state")));
  for (std::istringstream lines(text.out); lines;) {
    std::string line;
    std::getline(lines, line);
    EXPECT_LE(line.size(), 80) << "without a terminal";
  }
  EXPECT_THAT(convoy({"compare", "runs/one", "runs/two", "--markdown"}).out,
              HasSubstr("| run | strategy.name | ranks |"));
}

TEST_F(CompareCommand, RefusesWhatIsNoRunAndNoAccuracy) {
  expect_refused(convoy({"compare", "nowhere"}), 74, {"nowhere", "nothing of that name"});
  EXPECT_EQ(convoy({"compare", ".", "--target", "90"}).code, 2);
  EXPECT_EQ(convoy({"compare", ".", "--json", "--markdown"}).code, 2);
  EXPECT_EQ(convoy({"compare"}).code, 2);
}

TEST_F(CompareCommand, SaysThatItCannotDrawWithoutGnuplot) {
  train("one");

  const CommandResult result = convoy({"compare", "runs", "--picture", "curves.png"},
                                      {.environment = {{"PATH", "/nonexistent"}}});

  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("gnuplot is not installed"));
  EXPECT_THAT(result.out, HasSubstr("images/s"));
  EXPECT_FALSE(std::filesystem::exists(here() / "curves.png"));
}

}  // namespace
}  // namespace convoy
