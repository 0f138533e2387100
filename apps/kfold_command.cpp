// SPDX-License-Identifier: Apache-2.0

#include "apps/study_command.h"

namespace convoy {

void add_kfold_command(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<StudyArguments>();
  CLI::App* command = app.add_subcommand(
      "kfold", "K-fold cross-validation of every combination of settings");
  command->footer(
      "Examples:\n"
      "  convoy kfold experiment=fashion_lenet5 optimizer.lr=0.005,0.01 "
      "train.batch_size=32,64\n"
      "  convoy kfold sweep=kfold_fashion_sgd          a file under configs/sweep\n"
      "  convoy kfold --folds 10 --fold-by stratified model=cnn1\n\n"
      "The grid is written as in convoy sweep. Each combination is trained once per "
      "fold,\n"
      "without it, and scored on it; the score is the mean over the folds.\n"
      "The same command resumes what was interrupted. docs/studies.md says more.\n");
  add_study_flags(*command, *arguments);
  add_study_option(*command, *arguments, "--folds", "sweep.folds", "number of folds (5)");
  add_study_option(
      *command, *arguments, "--fold-by", "sweep.fold_by",
      "order: as samples are; shuffled: by train.seed; stratified: by label");
  command->callback([arguments, &action] {
    action = [arguments] { return make_study(StudyKind::kfold, *arguments); };
  });
}

}  // namespace convoy
