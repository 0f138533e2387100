// SPDX-License-Identifier: Apache-2.0
//
// Overlap: computing, and exchanges in the background, along one clock.
//
// One thread serves exchanges in the order in which they are started. Where the rank has
// no core to spare an exchange takes from computing what its own processor needs of it:
// two threads on one core get half of it each, and a thread that needs less leaves the
// rest.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace convoy {

/// An operation between ranks.
struct Exchange {
  double seconds = 0;            // if the rank does nothing else
  double busy = 0;               // of these, a core of its own works
  std::uint64_t sent = 0;        // bytes, by the rank that sends most
  std::uint64_t link_bytes = 0;  // one way through the busiest machine's link

  Exchange& operator+=(const Exchange& other);
};

/// A piece of computing.
struct Work {
  double seconds = 0;
  std::vector<Exchange> before{};  // are started when it could begin
  std::size_t needs = 0;           // exchanges, of all started, that must be over first
  std::vector<Exchange> after{};   // are started when it is done
};

struct OverlapOptions {
  int threads = 1;         // that compute
  double spare_cores = 0;  // on which no thread computes
  double handoff = 0;      // until an idle thread begins with an exchange
};

struct OverlapEnd {
  double computed = 0;   // when the last work was done
  double exchanged = 0;  // when the last exchange was, or the work if that was later
};

OverlapEnd overlap(std::span<const Work> works, const OverlapOptions& options);

}  // namespace convoy
