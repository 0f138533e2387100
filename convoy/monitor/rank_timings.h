// SPDX-License-Identifier: Apache-2.0
//
// RankTimings: how fast each rank is on its own, and which rank the others wait for.
//
// All ranks' steps take equally long, since they wait for each other. A slow rank is
// found by its own compute time, and by arriving late: it waits least at the exchange,
// while the others wait for it.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoy/monitor/step_times.h"
#include "convoy/updates/step_all_gather.h"

namespace convoy {

/// Medians of one rank's steps, in milliseconds.
struct RankTiming {
  double own = 0;                // computing
  double data = 0;               // waiting for its batch
  double exposed = 0;            // waiting for other ranks
  std::uint64_t bytes_sent = 0;  // over all of the steps

  /// The time before the rank reaches the exchange.
  double before_exchange() const { return own + data; }
};

class RankTimings {
 public:
  explicit RankTimings(std::size_t ranks);

  /// Adds the reports of one step, of the ranks from `first` on.
  void add(std::span<const StepReport> reports, std::size_t first = 0);

  /// Timings of the steps since the last start_window(), by rank.
  std::vector<RankTiming> window() const;
  void start_window();

  /// Medians over all steps but the first, by rank.
  std::vector<RankTiming> whole() const;

 private:
  struct Times {
    StepTimes own, data, exposed;
    std::uint64_t bytes_sent = 0;

    void add(const StepReport& report);
    void clear();
    RankTiming medians() const;
  };

  std::vector<Times> whole_, window_;
};

/// The rank that the others wait for.
struct Straggler {
  std::size_t rank;
  bool by_data;        // it waits for its batches; false: it computes for long
  double own;          // ms per step
  double elsewhere;    // median of the others
  double others_wait;  // ms that the others wait longer than it does
};

/// The rank with the longest time before the exchange, if it exceeds the median of the
/// others by a tenth and by 0.1 ms, and the rank arrives late: the others wait longer
/// than it does, by at least a quarter of that difference.
std::optional<Straggler> find_straggler(std::span<const RankTiming> ranks);

/// "slowest: rank 2, own compute 61 ms per step, 11 ms on other ranks, the others wait 50
/// ms for it".
std::string describe(const Straggler& straggler);

/// "61 ms", "0.25 ms".
std::string short_milliseconds(double value);

}  // namespace convoy
