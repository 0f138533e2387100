// SPDX-License-Identifier: Apache-2.0

#include "apps/study_command.h"

namespace convoy {

void add_sweep_command(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<StudyArguments>();
  CLI::App* command =
      app.add_subcommand("sweep", "Train every combination of settings, and compare");
  command->footer(
      "Examples:\n"
      "  convoy sweep experiment=fashion_lenet5 optimizer.lr=0.01,0.05 "
      "train.seed='range(1,4)'\n"
      "  convoy sweep model='glob(resnet*)' data=cifar10 train.epochs=2\n"
      "  convoy sweep --trials 20 optimizer.lr='log_interval(1e-4,1e-1)'\n"
      "  convoy sweep --halving train.epochs=9 optimizer.momentum=0,0.5,0.9\n"
      "  convoy sweep sweep=async_delays --simulate    a file under configs/sweep\n\n"
      "Values: a,b,c  range(start,stop,step)  choice(a,b)  glob(pattern)\n"
      "        interval(a,b)  log_interval(a,b)  [1,2],[3,4]  'a text, with commas'\n"
      "The same command resumes what was interrupted. docs/studies.md says more.\n");
  add_study_flags(*command, *arguments);
  command->callback([arguments, &action] {
    action = [arguments] { return make_study(StudyKind::sweep, *arguments); };
  });
}

}  // namespace convoy
