// SPDX-License-Identifier: Apache-2.0
//
// The messages of workers and parameter servers, without the numbers of the flat buffers.
//
//   worker -> server   a Push: the gradients of one batch, of the server's range
//   server -> worker   an Assignment: the batch to do next, and values to do it with
//
// A worker does what it is assigned and keeps no count of its own: the process that takes
// its place after a crash gets an assignment to resume from.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/base/exit_code.h"
#include "convoy/params/loss_sum.h"

namespace convoy {

struct Push {
  std::uint64_t sequence = 0;   // of the worker's batches, from 0
  std::uint64_t version = 0;    // of the values that it was computed with
  std::uint64_t samples = 0;    // of the whole batch
  double own_seconds = 0;       // from the batch to the last gradient, sleep included
  double data_seconds = 0;      // waited for the batch
  double slept_seconds = 0;     // of a delay that was injected
  double exchange_seconds = 0;  // of the exchange before this one
  std::vector<LossSum> microbatches{};  // of the worker's own micro-batches, in order

  bool operator==(const Push&) const = default;
};

/// Updates of the values are numbered: version v has had v of them.
struct Assignment {
  bool over = false;               // nothing is left to do
  std::uint64_t sequence = 0;      // the batch to do next
  std::uint64_t version = 0;       // of the values that come with it
  ExitCode code = ExitCode::done;  // if over: how the run ended
  std::string reason{};            // the same in words

  bool operator==(const Assignment&) const = default;
};

}  // namespace convoy
