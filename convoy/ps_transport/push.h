// SPDX-License-Identifier: Apache-2.0
//
// The messages of workers and parameter servers, without the numbers of the flat buffers.
//
//   worker -> server   a Push: the gradients of one batch, in the server's range
//   server -> worker   an Assignment: the next batch, and the values for it
//
// A worker computes what it is assigned and keeps no state: a process that replaces it
// after a crash gets an assignment to resume from.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/base/exit_code.h"
#include "convoy/params/loss_sum.h"

namespace convoy {

struct Push {
  std::uint64_t sequence = 0;   // the worker's batch number, from 0
  std::uint64_t version = 0;    // of the values that it was computed with
  std::uint64_t samples = 0;    // of the global batch
  double own_seconds = 0;       // from the batch to the last gradient, including sleep
  double data_seconds = 0;      // waiting for the batch
  double slept_seconds = 0;     // injected delay
  double exchange_seconds = 0;  // the previous exchange
  double loss_scale = 1;        // of the loss whose gradients they are
  bool is_finite = true;        // all of them, of all servers' ranges
  std::vector<LossSum> microbatches{};  // of the worker's micro-batches, in order

  bool operator==(const Push&) const = default;
};

/// Version v of the values has had v updates.
struct Assignment {
  bool over = false;               // nothing is left to compute
  std::uint64_t sequence = 0;      // the next batch
  std::uint64_t version = 0;       // of the values that come with it
  double loss_scale = 1;           // to compute gradients with
  ExitCode code = ExitCode::done;  // if over: how the run ended
  std::string reason{};            // the reason in words

  bool operator==(const Assignment&) const = default;
};

}  // namespace convoy
