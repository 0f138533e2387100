// SPDX-License-Identifier: Apache-2.0
//
// Code of others, with TensorFlow's own message definitions, reads the same from an event
// file. `script/bootstrap test` installs it.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "convoy/events/event_writer.h"
#include "convoy/models/models.h"
#include "convoy/monitor/model_graph.h"
#include "convoy/system/temporary_folder.h"
#include "tests/apps/convoy_process.h"
#include "tests/bootstrap_folder.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

fs::path modules_folder() { return bootstrap_folder("tfrecord"); }

class NpmReader : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(fs::exists(modules_folder() / "api.proto"))
        << "script/bootstrap test installs " << modules_folder();
  }

  json read() {
    writer.flush();
    const CommandResult result =
        run_convoy({"node", CONVOY_SOURCE_DIR "/tests/events/read_with_npm.js",
                    modules_folder(), writer.path()},
                   here.path(), {.program = "/usr/bin/env"});
    EXPECT_EQ(result.code, 0) << result.err;
    return result.code == 0 ? json::parse(result.out) : json();
  }

  TemporaryFolder here;
  EventWriter writer{here.path()};
};

TEST_F(NpmReader, ReadsScalarsHistogramsAndText) {
  writer.scalar("train/loss", 50, 0.75);
  writer.scalar("test/accuracy", 100, 0.5);
  writer.histogram("weights/a", 7, std::vector<float>{1, 2, 2, -4});
  writer.text("settings", "a *word*");

  const json found = read();
  EXPECT_EQ(found.at("records"), 5) << "with the version";
  EXPECT_EQ(found.at("scalars"),
            (json{{"train/loss", 50, 0.75}, {"test/accuracy", 100, 0.5}}));
  EXPECT_EQ(found.at("histograms"), (json{{"weights/a", 7, 4, {0, 1, 0, 1, 0, 2}}}));
  EXPECT_EQ(found.at("texts"),
            json::array({json::array({"settings/text_summary", "a *word*"})}));
}

TEST_F(NpmReader, ReadsTheGraphOfAModel) {
  const ModelEntry& entry = find_model("resnet18");
  const std::vector<GraphNode> nodes = model_graph(entry.make(entry.usual_input, 10));
  writer.graph(nodes);

  json expected = json::array();
  for (const GraphNode& node : nodes) {
    expected.push_back(json::array({node.name, node.op, node.inputs, node.shape}));
  }
  EXPECT_EQ(read().at("nodes"), expected);
}

}  // namespace
}  // namespace convoy
