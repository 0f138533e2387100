// SPDX-License-Identifier: Apache-2.0
//
// Ddp: gradients are exchanged while backward still runs.
//
// Adjacent units are grouped into buckets, from the last unit to the first, as backward
// completes them. When a bucket's last gradient is ready, its all-reduce starts in the
// background; step() waits for all of them and updates.
//
//   backward   | unit 5 | unit 4 | unit 3 | unit 2 | unit 1 | unit 0 |
//   exchange             | bucket 0: 5, 4   |       | bucket 1: 3, 2 ..| bucket 2 |
//                                                            step() waits from here
//
// Frozen segments are left out: a bucket is one operation per range that is trained.

#pragma once

#include "convoy/strategy/peers.h"
#include "convoy/strategy/replica.h"
#include "convoy/strategy/strategy.h"

namespace convoy {

/// The ranges of the layout that are exchanged together (params/buckets.h). Units without
/// trained parameters are in none, unless they lie between others of a bucket.
std::vector<Range> bucket_ranges(const Layout& layout, std::size_t bucket_bytes);

class Ddp final : public Strategy {
 public:
  /// Borrows what replica and peers borrow for as long as it lives.
  Ddp(const Replica& replica, const Peers& peers, std::size_t bucket_bytes);

  /// All ranks take the first rank's values and running statistics.
  void begin() override;
  void gradient_ready(SegmentId segment) override;
  void step() override;

 private:
  struct Bucket {
    std::vector<ReduceRange> pieces;  // one per trained range
    std::size_t segments = 0;         // in this bucket
    std::size_t missing = 0;          // gradients that are not ready yet in this step
    AsyncComm::Ticket under_way{};    // of the last piece
  };

  void start(Bucket& bucket);

  Replica replica_;
  Peers peers_;
  std::vector<Bucket> buckets_;         // in the order of backward
  std::vector<std::size_t> bucket_of_;  // by segment; of frozen ones it is not used
  /// Without gradients: exchanged with the first bucket.
  Bucket statistics_;
};

}  // namespace convoy
