// SPDX-License-Identifier: Apache-2.0
//
// StepAllGather: one small all-gather per step, after which all ranks know the same about
// it.
//
// Each rank contributes the losses of its micro-batches and a few numbers about itself.
// Losses are added in micro-batch order, so that they have the same bits on any number of
// ranks; whether to stop is decided from what all ranks know, so that all stop after the
// same step. It runs in the background, after the operations of the strategy, so that it
// adds no wait of its own.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convoy/comm/async_comm.h"
#include "convoy/network/loss.h"

namespace convoy {

/// A value in place of a signal if the run's time is up.
inline constexpr int kTimeIsUp = 1 << 16;

/// What a rank reports about its step.
struct StepReport {
  std::int64_t stop_signal = 0;  // received; 0: none
  double own_seconds = 0;        // from the beginning of the step to the last gradient
  double data_seconds = 0;       // waiting for the batch
  // Of the previous step, since this one's exchange is not complete.
  double exposed_seconds = 0;  // waiting for other ranks
  std::uint64_t bytes_sent = 0;
  std::int64_t gather_resources = 0;  // 1: the first rank requests all ranks' rows
};

class StepAllGather {
 public:
  /// Borrows the comm for as long as it lives. `rank` is this rank.
  StepAllGather(AsyncComm& comm, const ReductionOrder& order, int rank);

  /// Starts to send this rank's report; the micro-batches are its own, in order.
  void start(const StepReport& own, std::span<const LossSum> microbatches);

  /// Waits for all reports. Returns the loss of the global batch.
  LossSum finish();

  /// The reports, by rank.
  std::span<const StepReport> reports() const { return reports_; }

  /// A signal that any rank has received; 0: none.
  int stop_signal() const;

 private:
  std::byte* message_of(std::size_t rank);

  AsyncComm& comm_;
  std::size_t rank_;
  std::vector<MicrobatchPart> parts_;  // by rank
  std::size_t message_;                // floats per rank, which carry raw bytes
  std::vector<float> all_;             // messages by rank
  AsyncComm::Ticket under_way_;
  std::vector<StepReport> reports_;
  std::vector<LossSum> losses_;  // by micro-batch
};

}  // namespace convoy
