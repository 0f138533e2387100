// SPDX-License-Identifier: Apache-2.0
//
// Overlap: computation and background exchanges on one timeline.
//
// One thread executes exchanges in the order in which they are started. If the rank has
// no spare core, an exchange takes CPU time from computation: two threads on one core get
// half of it each, and a thread that needs less leaves the rest to the other.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace convoy {

/// An operation between ranks.
struct Exchange {
  double seconds = 0;            // if the rank does nothing else
  double busy = 0;               // CPU time, included in seconds
  std::uint64_t sent = 0;        // bytes, by the rank that sends most
  std::uint64_t link_bytes = 0;  // one direction, through the busiest machine's link

  Exchange& operator+=(const Exchange& other);
};

/// A piece of computation.
struct Work {
  double seconds = 0;
  std::vector<Exchange> before{};  // started when the computation could begin
  /// Number of started exchanges that must be complete before it begins.
  std::size_t needs = 0;
  std::vector<Exchange> after{};  // started when the computation is done
};

struct OverlapOptions {
  int threads = 1;         // that compute
  double spare_cores = 0;  // on which no thread computes
  double handoff = 0;      // until an idle thread begins an exchange
};

struct OverlapEnd {
  double computed = 0;  // when the last work was done
  /// When the last exchange was done, or the last work if that was later.
  double exchanged = 0;
};

OverlapEnd overlap(std::span<const Work> works, const OverlapOptions& options);

}  // namespace convoy
