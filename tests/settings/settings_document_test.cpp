// SPDX-License-Identifier: Apache-2.0
//
// Help and documents are what the table of settings says.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/settings/settings_compare.h"
#include "convoy/settings/settings_resolve.h"
#include "convoy/settings/settings_schema.h"
#include "convoy/setup/workload.h"
#include "convoy/system/file.h"
#include "test_places.h"

namespace convoy {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

const fs::path kProject = CONVOY_SOURCE_DIR;

SettingsContext of_project() {
  return {.names = known_names(), .folders = {kProject / "configs"}};
}

TEST(SettingsSchema, NamesEachSettingOnceWithHelp) {
  std::set<std::string> names;
  for (const SettingInfo& info : settings_schema()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_FALSE(info.help.empty()) << info.name;
    EXPECT_FALSE(info.expected.empty()) << info.name;
  }
}

TEST(SettingsSchema, DefaultsAreValuesThatTheSettingsTake) {
  for (const SettingInfo& info : settings_schema()) {
    const Settings settings =
        resolve_settings({info.name + "=" + info.default_text}, {}, of_project());
    EXPECT_EQ(settings, Settings{}) << info.name;
  }
}

TEST(SettingsSchema, ListsTheKnownNames) {
  const std::vector<SettingInfo> schema = settings_schema(of_project().names);

  EXPECT_EQ(schema.front().name, "model.name");
  EXPECT_EQ(schema.front().kind, SettingKind::choice);
  EXPECT_EQ(schema.front().default_text, "lenet5");
  EXPECT_EQ(schema.front().expected, "one of " + join(known_names().models));
}

TEST(SettingsSchema, HasTheNamesThatSettingsHadBefore) {
  std::map<std::string, std::string> aliases;
  for (const SettingInfo& info : settings_schema()) {
    if (!info.alias.empty()) aliases[info.alias] = info.name;
  }
  EXPECT_EQ(aliases,
            (std::map<std::string, std::string>{{"data.deviation", "data.std"},
                                                {"train.lanes", "train.microbatches"}}));
}

TEST(SettingsHelp, NamesEveryGroupAndSetting) {
  const std::string help = settings_help(of_project().names);

  for (const std::string group :
       {"model", "data", "optimizer", "schedule", "strategy", "experiment"}) {
    EXPECT_THAT(help, HasSubstr("  " + group + "=NAME "));
  }
  for (const SettingInfo& info : settings_schema()) {
    const bool option = info.name.ends_with(".name") && info.kind == SettingKind::choice;
    if (option) continue;
    EXPECT_THAT(help, HasSubstr("  " + info.name + "=" + info.default_text));
  }
}

/// The table of docs/settings.md is between two comments. CONVOY_WRITE_DOCS=1 writes it.
TEST(SettingsDocument, HasTheTableThatTheSettingsGenerate) {
  const fs::path path = kProject / "docs/settings.md";
  const std::string begin = "<!-- generated: begin -->\n",
                    end = "<!-- generated: end -->";
  std::string document = read_text(path);
  const std::size_t first = document.find(begin), last = document.find(end);
  ASSERT_NE(first, std::string::npos);
  ASSERT_NE(last, std::string::npos);
  const std::size_t table = first + begin.size();

  if (std::getenv("CONVOY_WRITE_DOCS")) {
    document.replace(table, last - table, settings_markdown());
    write_atomically(path, document);
    return;
  }
  EXPECT_EQ(document.substr(table, last - table), settings_markdown())
      << "run this test with CONVOY_WRITE_DOCS=1 to write the table";
}

TEST(SettingsDocument, SaysWhatIsPerMachine) {
  const std::string document = read_text(kProject / "docs/settings.md");
  Settings other;
  other.data.root = "/data";
  other.cluster = {.node_rank = 1,
                   .master_addr = "host",
                   .master_port = 1234,
                   .threads = 3,
                   .pin = false};

  EXPECT_EQ(compared_settings(other), compared_settings({}));
  for (const std::string name :
       {"data.root", "cluster.node_rank", "cluster.master_addr", "cluster.master_port",
        "cluster.threads", "cluster.pin"}) {
    EXPECT_THAT(compared_settings({}), testing::Not(HasSubstr(name + "=")));
  }
  EXPECT_THAT(document,
              HasSubstr("All ranks must have the same settings, except for `data.root`, "
                        "`cluster.node_rank`, `cluster.master_addr`,\n"
                        "`cluster.master_port`, `cluster.threads` and `cluster.pin`."));
}

TEST(SettingsDocument, NamesEveryShippedExperiment) {
  const std::string document = read_text(kProject / "docs/settings.md");

  for (const auto& entry : fs::directory_iterator(kProject / "configs/experiment")) {
    EXPECT_THAT(document, HasSubstr("| `" + entry.path().stem().string() + "` |"));
  }
}

}  // namespace
}  // namespace convoy
