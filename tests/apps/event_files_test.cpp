// SPDX-License-Identifier: Apache-2.0
//
// The program's event files, also after a kill.

#include <signal.h>

#include "tests/apps/small_run.h"
#include "tests/events/read_events.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class EventFiles : public ProgramTest {
 protected:
  static std::vector<fs::path> in(const fs::path& run) {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(run)) {
      if (entry.path().filename().string().starts_with("events.out.tfevents.")) {
        paths.push_back(entry.path());
      }
    }
    return paths;
  }
};

TEST_F(EventFiles, IsOneOfARunOnSeveralRanks) {
  const fs::path run = train("a", {"-n", "2"});

  EXPECT_EQ(in(run).size(), 1u);
  EXPECT_EQ(curves_of(read_events(run)).at("train/loss").size(), 6u);
}

TEST_F(EventFiles, IsNotThereIfNotWanted) {
  EXPECT_THAT(in(train("a", {"run.tensorboard=false"})), testing::IsEmpty());
}

TEST_F(EventFiles, AreReadUpToTheLastWholeRecordAfterAKill) {
  ConvoyProcess process(small_training("a", {"train.epochs=100000"}), here());
  const fs::path run = here() / "runs" / "a";
  const auto has_much = [&] {
    return fs::exists(run) && !in(run).empty() && fs::file_size(in(run).front()) > 30'000;
  };
  ASSERT_TRUE(process.wait_until(has_much));
  process.send(SIGKILL);
  process.wait();

  const std::vector<json> events = read_events(run);
  const ScalarCurve loss = curves_of(events).at("train/loss");
  EXPECT_GT(loss.size(), 10u);
  for (std::size_t i = 0; i < loss.size(); ++i) {
    EXPECT_EQ(loss[i].first, static_cast<int>(i) + 1) << "none is missing";
  }
}

TEST_F(EventFiles, ThatCannotBeWrittenEndTheRun) {
  const CommandResult result =
      convoy(small_training("a"), {.most_file_bytes = 4000});  // less than the graph

  EXPECT_EQ(result.code, 74) << result.out << result.err;
  EXPECT_THAT(result.err, testing::HasSubstr("events.out.tfevents."));
  EXPECT_THAT(result.err, testing::HasSubstr("File too large"));
}

}  // namespace
}  // namespace convoy
