// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "apps/commands.h"
#include "convoy/base/json.h"
#include "convoy/base/printable.h"
#include "convoy/fit/fit_report.h"
#include "convoy/setup/workload.h"

namespace convoy {
namespace {

struct FitArguments {
  SettingArguments settings;
  std::uint64_t memory = 0;  // bytes of a machine; 0: what is free here
  std::vector<int> ranks = {1, 2, 4, 8};
  bool as_json = false;
};

ExitCode fit(const FitArguments& arguments) {
  const Settings settings = arguments.settings.resolve();
  const MemoryLimit limit = arguments.memory > 0
                                ? MemoryLimit{arguments.memory, "as given"}
                                : memory_limit(settings);
  const FitReport report =
      fit_batches(settings, load_workload(settings), arguments.ranks, limit);
  if (arguments.as_json) {
    fmt::print("{}\n", json_text(fit_json(report), 2));
  } else {
    fmt::print("{}", printable(fit_text(report)));
  }
  return ExitCode::done;
}

}  // namespace

void add_fit_command(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<FitArguments>();
  CLI::App* command = app.add_subcommand(
      "fit", "Print the largest batch that fits into memory, by strategy");
  command->footer(
      "The batch is that of one update, over all ranks. Nothing is trained.\n\n"
      "Examples:\n"
      "  convoy fit model=vit_b_32 data=cifar10 data.resize=224 optimizer=adam\n"
      "  convoy fit experiment=cifar10_vit --memory 16GiB --ranks 4 cluster.nnodes=4\n"
      "  convoy train experiment=cifar10_vit train.batch_size=max\n");
  add_setting_flags(*command, arguments->settings);
  command
      ->add_option("--memory", arguments->memory,
                   "memory of each machine, as 16GiB (what is free on this one)")
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/true));
  command->add_option("--ranks", arguments->ranks, "numbers of ranks (1,2,4,8)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 65535));
  command->add_flag("--json", arguments->as_json, "print JSON");
  command->callback(
      [arguments, &action] { action = [arguments] { return fit(*arguments); }; });
}

}  // namespace convoy
