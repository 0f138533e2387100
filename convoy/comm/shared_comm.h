// SPDX-License-Identifier: Apache-2.0
//
// SharedComm: a Comm between ranks of one machine, through shared memory.
//
// Data passes through the slots of pipes, which stay in cache, sums in their type. An
// all-reduce processes one chunk after the other, so that the sum of a chunk is written
// where its partials have just been read:
//
//   to each owner o       own partials of chunk k+a of o's part
//   own part              adds the partials of chunk k; the sum to whole, and to everyone
//   from each owner o     the sum of chunk k-a of o's part, to whole

#pragma once

#include <memory>
#include <vector>

#include "convoy/base/aligned.h"
#include "convoy/comm/comm.h"
#include "convoy/comm/shared_pipe.h"

namespace convoy {

class SharedComm final : public Comm {
 public:
  explicit SharedComm(std::unique_ptr<SharedSegment> segment);

 private:
  class Reducing;

  void do_exchange(const Exchange& exchange) override;
  void do_reduce(const Reduction& reduction) override;

  std::unique_ptr<SharedSegment> segment_;
  std::vector<SharedPipe> to_, from_;  // by rank; a rank's own entry is not used
  std::vector<const float*> chunk_partials_;
  AlignedBuffer<float> widened_;  // others' partials of a chunk, if they have 16 bits
};

}  // namespace convoy
