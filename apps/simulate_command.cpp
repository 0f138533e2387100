// SPDX-License-Identifier: Apache-2.0

#include <memory>

#include "apps/commands.h"
#include "apps/predict.h"

namespace convoy {
namespace {

struct SimulateArguments {
  SettingArguments settings;
  PredictOptions prediction;
  bool predict = false;
};

}  // namespace

void add_simulate_command(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<SimulateArguments>();
  CLI::App* command =
      app.add_subcommand("simulate", "Predict what a cluster that is not there would do");
  command->footer(
      "Examples:\n  convoy simulate --predict model=vgg11 train.batch_size=256\n"
      "  convoy simulate --predict model=lenet5 --nodes 1,2,4 --profile lenet5.json\n");
  arguments->settings.add_to(*command);
  PredictOptions& prediction = arguments->prediction;
  command
      ->add_flag("--predict", arguments->predict,
                 "the scaling curve of every strategy, from a profile of this machine")
      ->required();
  command->add_option("--nodes", prediction.nodes, "how many machines (1,2,4,...,1024)")
      ->delimiter(',')
      ->allow_extra_args(false)  // else it would take the settings after it for numbers
      ->check(CLI::Range(1, 1 << 16));
  command->add_option("--profile", prediction.profile,
                      "a file: read if it is there, else measured and written");
  command->add_flag("--weak", prediction.weak,
                    "train.batch_size is of one node: more nodes, larger batch");
  command
      ->add_option("--at-once", prediction.at_once,
                   "ranks that compute at once while measuring (those of a node)")
      ->check(CLI::Range(1, 64));
  command->add_option("--seconds", prediction.seconds, "how long to measure a pass (2)")
      ->check(CLI::Range(0.01, 3600.0));
  command->add_flag("--json", prediction.as_json, "one JSON object");
  command->callback([arguments, &action] {
    action = [arguments] {
      return predict(arguments->settings.resolve(), arguments->prediction);
    };
  });
}

}  // namespace convoy
