// SPDX-License-Identifier: Apache-2.0
//
// AsyncJob, SyncJob: jobs of parameter servers in a folder, with what they left in it.

#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "convoy/system/file.h"
#include "convoy/system/temporary_folder.h"
#include "tests/ps/served_job.h"
#include "tests/train/small_settings.h"

namespace convoy {

/// Two workers with five and four batches an epoch.
class AsyncJob : public testing::Test {
 protected:
  AsyncJob() {
    settings.strategy.name = StrategyChoice::ps_async;
    settings.checkpoint.keep = 0;
  }

  ServedResult train(ServedJob job, const std::string& name = "a") {
    const bool goes_on = settings.train.resume == path(name).string();
    RunFolder folder = goes_on ? RunFolder::open(path(name))
                               : RunFolder::create(here.path(), name, "default");
    folder.write_config(to_yaml(settings));
    job.folder = &folder;
    return run_served(settings, job);
  }

  /// Asked to stop by a signal after that step.
  ServedResult train_until(std::size_t step, ServedJob job) {
    job.on_step = [step](std::size_t done) {
      if (done == step) ::raise(SIGTERM);
    };
    return train(job);
  }

  std::filesystem::path path(const std::string& name = "a") const {
    return here.path() / name;
  }
  nlohmann::json summary(const std::string& name = "a") const {
    return nlohmann::json::parse(read_text(path(name) / "summary.json"));
  }
  nlohmann::json last_state() const {
    return nlohmann::json::parse(read_text(path() / "checkpoints/last/state.json"));
  }
  std::vector<nlohmann::json> step_lines() const {
    std::vector<nlohmann::json> lines;
    std::istringstream text(read_text(path() / "metrics.jsonl"));
    for (std::string line; std::getline(text, line);) {
      nlohmann::json record = nlohmann::json::parse(line);
      if (record.at("kind") == "step") lines.push_back(std::move(record));
    }
    return lines;
  }

  /// That all 18 batches, 10 and 8 of the two workers, were applied once.
  void expect_all_once(int servers = 1) const {
    EXPECT_EQ(summary().at("steps"), 18);
    const nlohmann::json staleness = summary().at("staleness");
    EXPECT_EQ(staleness.at("updates"), 18);
    EXPECT_EQ(staleness.at("workers")[0].at("updates"), 10);
    EXPECT_EQ(staleness.at("workers")[1].at("updates"), 8);
    expect_all_pushed(servers);
  }

  /// The same of every server, by the last checkpoint.
  void expect_all_pushed(int servers = 1) const {
    nlohmann::json each = nlohmann::json::array();
    for (int server = 0; server < servers; ++server) each.insert(each.end(), {10, 8});
    EXPECT_EQ(last_state().at("updates").at("pushes"), each);
  }

  TemporaryFolder here;
  Settings settings = small_settings(65, 9, 8, /*threads=*/1);
};

class SyncJob : public AsyncJob {
 protected:
  SyncJob() {
    settings.strategy.name = StrategyChoice::ps_sync;
    settings.train.microbatches = 4;
  }
};

}  // namespace convoy
