// SPDX-License-Identifier: Apache-2.0
//
// RecordedRun: a test that trains in this process and reads what the run recorded.

#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "convoy/checkpoint/run_folder.h"
#include "convoy/comm/alone_comm.h"
#include "convoy/monitor/progress.h"
#include "convoy/system/file.h"
#include "convoy/system/stop_request.h"
#include "convoy/system/temporary_folder.h"
#include "convoy/train/outcome.h"
#include "convoy/train/trainer.h"
#include "tests/train/small_settings.h"

namespace convoy {

class RecordedRun : public testing::Test {
 protected:
  /// Trains with the settings and gives back the summary.
  nlohmann::json train_and_sum_up(const std::string& name) {
    Trainer trainer(settings, comm);
    RunFolder folder = RunFolder::create(here.path(), name, "default");
    Progress progress(nowhere.get(), {});
    trainer.train(&folder, &progress, stop, "the command");
    return nlohmann::json::parse(read_text(here.path() / name / "summary.json"));
  }

  /// A run's records of a kind.
  std::vector<nlohmann::json> records_of(const std::string& name,
                                         const std::string& kind) const {
    std::vector<nlohmann::json> records;
    std::istringstream text(read_text(here.path() / name / "metrics.jsonl"));
    for (std::string line; std::getline(text, line);) {
      const nlohmann::json record = nlohmann::json::parse(line);
      if (record.at("kind") == kind) records.push_back(record);
    }
    return records;
  }

  /// What they have under `key`.
  std::vector<double> recorded(const std::string& name, const std::string& kind,
                               const std::string& key) const {
    std::vector<double> numbers;
    for (const nlohmann::json& record : records_of(name, kind)) {
      numbers.push_back(record.at(key));
    }
    return numbers;
  }
  std::vector<double> of_steps(const std::string& name, const std::string& key) const {
    return recorded(name, "step", key);
  }

  TemporaryFolder here;
  StopRequest stop;
  AloneComm comm;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> nowhere{std::fopen("/dev/null", "w"),
                                                          &std::fclose};
  Settings settings = small_settings(150, 31, 32, /*threads=*/2);
};

}  // namespace convoy
