// SPDX-License-Identifier: Apache-2.0
//
// StepAllGather: one small exchange a step, after which all ranks know the same of it.
//
// Each rank gives the losses of its micro-batches and a few numbers about itself. Losses
// are added in micro-batch order, so that they have the same bits on any number of ranks;
// whether to stop is decided from what all know, so that all stop after the same step. It
// goes on in the background, behind what a strategy has started, so that it costs no wait
// of its own.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convoy/comm/async_comm.h"
#include "convoy/network/loss.h"

namespace convoy {

/// Stands for a signal where a run's time is up.
inline constexpr int kTimeIsUp = 1 << 16;

/// What a rank says of its step.
struct StepReport {
  std::int64_t stop_signal = 0;  // that it has received; 0: none
  double own_seconds = 0;        // from the step's begin to the last gradient
  double data_seconds = 0;       // waited for the batch
  // Of the step before, since this one's exchange is not over.
  double exposed_seconds = 0;  // waited for other ranks
  std::uint64_t bytes_sent = 0;
  std::int64_t gather_resources = 0;  // 1: the first rank wants everyone's rows
};

class StepAllGather {
 public:
  /// Borrows the comm for as long as it lives. `rank` is this one.
  StepAllGather(AsyncComm& comm, const ReductionOrder& order, int rank);

  /// Begins to tell all ranks of this rank's step; the micro-batches are its own, in
  /// order.
  void start(const StepReport& own, std::span<const LossSum> microbatches);

  /// Waits for what the others say. Returns the loss of the whole batch.
  LossSum finish();

  /// What the ranks said, by rank.
  std::span<const StepReport> reports() const { return reports_; }

  /// A signal that any of them has received; 0: none.
  int stop_signal() const;

 private:
  std::byte* message_of(std::size_t rank);

  AsyncComm& comm_;
  std::size_t rank_;
  std::vector<std::size_t> microbatches_;  // by rank, how many
  std::size_t message_;     // floats of each rank's, as bytes are sent here
  std::vector<float> all_;  // the messages, by rank
  AsyncComm::Ticket under_way_;
  std::vector<StepReport> reports_;
};

}  // namespace convoy
