// SPDX-License-Identifier: Apache-2.0
//
// Runs that are stopped and resumed, each in a folder of its own.

#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "convoy/checkpoint/checkpoint.h"
#include "convoy/checkpoint/checkpoint_state.h"
#include "convoy/checkpoint/run_folder.h"
#include "convoy/settings/setting_changes.h"
#include "convoy/setup/workload.h"
#include "convoy/system/file.h"
#include "convoy/system/stop_request.h"
#include "convoy/system/temporary_folder.h"
#include "convoy/train/outcome.h"
#include "convoy/train/trainer.h"
#include "tests/comm/thread_ranks.h"
#include "tests/train/small_settings.h"

namespace convoy {

/// Two epochs of three steps in four micro-batches, one of a large model, and a
/// checkpoint at every step.
inline Settings settings_of_resumed(const std::string& model) {
  Settings settings = small_settings(35, 9, 16, /*threads=*/1);
  settings.model.name = model;
  set_small_images(model, settings);
  if (model != "lenet5") settings.train.epochs = 1;
  settings.train.microbatches = 4;
  settings.train.augment = AugmentChoice::crop_flip;
  settings.ddp.bucket_mb = 0.1;
  settings.checkpoint.every_steps = 1;
  settings.checkpoint.keep = 0;
  return settings;
}

class Resume : public testing::Test {
 protected:
  /// Trains in the folder `name`, new or as train.resume says; returns how it ended.
  Outcome train(Settings settings, const std::string& name, int ranks = 1,
                std::size_t stop_after = 0) {
    const StopRequest stop;
    settings.strategy.name = ranks == 1 ? StrategyChoice::single
                                        : find_choice<StrategyChoice>(strategy).value();
    const bool goes_on = settings.train.resume == (here.path() / name).string();
    RunFolder folder = goes_on ? RunFolder::open(here.path() / name)
                               : RunFolder::create(here.path(), name, "default");
    folder.write_config(to_yaml(repeatable(settings, microbatch_count(settings, ranks))));
    Outcome outcome;
    run_ranks(ranks, [&](Comm& comm) {
      Trainer trainer(settings, comm);
      if (const auto& from = trainer.restored(); goes_on && from) {
        folder.forget_after(from->step, from->evaluated);
      }
      trainer.tell_steps_to([&](std::size_t step) {
        if (step == stop_after && comm.is_first()) ::raise(SIGTERM);
      });
      const Outcome own =
          trainer.train(comm.is_first() ? &folder : nullptr, nullptr, stop, "");
      if (comm.is_first()) outcome = own;
    });
    return outcome;
  }

  Settings going_on(Settings settings, const std::filesystem::path& from) const {
    settings.train.resume = from.string();
    return settings;
  }

  std::string weights(const std::string& name) const {
    return nlohmann::json::parse(read_text(here.path() / name / "summary.json"))
        .at("weights_sha256");
  }

  /// Of the epoch and evaluation records: what does not depend on the clock.
  std::vector<std::string> records(const std::string& name) const {
    std::vector<std::string> lines;
    std::istringstream text(read_text(here.path() / name / "metrics.jsonl"));
    for (std::string line; std::getline(text, line);) {
      const nlohmann::json record = nlohmann::json::parse(line);
      lines.push_back(fmt::format("{} {} {} {}", record.at("kind").dump(),
                                  record.at("step").dump(), record.at("loss").dump(),
                                  record.at("accuracy").dump()));
    }
    return lines;
  }

  std::filesystem::path checkpoint(const std::string& name, std::size_t step) const {
    return here.path() / name / "checkpoints" / checkpoint_name(step);
  }

  TemporaryFolder here;
  std::string strategy = "ddp";
};

}  // namespace convoy
