// SPDX-License-Identifier: Apache-2.0
//
// Schedule: learning rate and momentum of every step, with PyTorch's curves.
//
//   constant     the rate does not change
//   step         multiplied by gamma every step_epochs, or at milestones (StepLR,
//                MultiStepLR)
//   exponential  multiplied by gamma every epoch (ExponentialLR)
//   cosine       half a cosine from the rate to min_rate over the run (CosineAnnealingLR)
//   linear       a line from the rate to rate * end_factor over the run (LinearLR)
//   onecycle     up to max_rate and down to almost zero, momentum inversely
//                (OneCycleLR with two phases)
//
// All but onecycle may begin with a warm-up: rate * 1/n, 2/n ... over n steps. After it,
// cosine and linear span the remaining steps, and exponential counts epochs. A schedule
// is a pure function of the step; plateau.h depends on evaluations.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace convoy {

enum class Curve { constant, step, exponential, cosine, linear, onecycle };

struct OneCycle {
  double max_rate = 1;
  double pct_start = 0.3;  // fraction of the steps: PyTorch's pct_start
  double div_factor = 25;
  double final_div_factor = 1e4;
  bool linear = false;  // linear annealing; false: cosine
  bool cycle_momentum = true;
  double base_momentum = 0.85;
  double max_momentum = 0.95;
};

struct ScheduleOptions {
  Curve curve = Curve::constant;
  double rate = 0.01;
  double momentum = 0;
  std::size_t steps = 1;           // of the run
  std::size_t steps_in_epoch = 1;  // per epoch
  double warmup_epochs = 0;
  int step_epochs = 1;
  std::vector<double> milestones{};  // epochs; if not empty, used instead of step_epochs
  double gamma = 0.1;
  double min_rate = 0;
  double end_factor = 0.01;
  OneCycle one_cycle{};
};

/// The rates of one update.
struct StepRates {
  double rate = 0;
  double momentum = 0;  // or Adam's beta1
};

class Schedule {
 public:
  /// Requires: at least one step in the run and per epoch.
  explicit Schedule(ScheduleOptions options);

  /// The rates of update number `step`, from 0.
  StepRates at(std::size_t step) const;

 private:
  double along_curve(std::size_t step) const;
  double stepped(std::size_t step) const;
  double exponential(std::size_t step) const;
  double part_after_warmup(std::size_t step) const;
  StepRates one_cycle(std::size_t step) const;

  ScheduleOptions options_;
  std::size_t warmup_steps_;
};

}  // namespace convoy
