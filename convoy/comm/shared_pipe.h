// SPDX-License-Identifier: Apache-2.0
//
// SharedPipe: slots of shared memory through which one rank writes to another.
//
//   writer:  std::byte* slot = pipe.reserve(); ... pipe.post();
//   reader:  const std::byte* slot = pipe.front(); ... pipe.release();
//
// The writer waits while the pipe is full, the reader while it is empty; if the other
// rank dies or leaves meanwhile, a PeerError names it. Each of the two ranks has its own
// object.

#pragma once

#include <cstddef>
#include <cstdint>

#include "convoy/comm/shared_segment.h"

namespace convoy {

class SharedPipe {
 public:
  /// Borrows the segment.
  SharedPipe(SharedSegment& segment, int writer, int reader)
      : segment_(&segment),
        writer_(writer),
        reader_(reader),
        posted_(&segment.posted(writer, reader)),
        taken_(&segment.taken(writer, reader)),
        slots_(segment.slots(writer, reader)) {}

  /// Returns a slot to write to.
  std::byte* reserve() {
    segment_->wait(*taken_, next_ - SharedSegment::kSlots + 1, reader_);
    return slot();
  }
  void post() { SharedSegment::advance(*posted_, ++next_); }

  /// Returns the oldest posted slot.
  const std::byte* front() {
    segment_->wait(*posted_, next_ + 1, writer_);
    return slot();
  }
  void release() { SharedSegment::advance(*taken_, ++next_); }

 private:
  std::byte* slot() const {
    return slots_ + next_ % SharedSegment::kSlots * segment_->slot_bytes();
  }

  SharedSegment* segment_;
  int writer_, reader_;
  SharedCounter *posted_, *taken_;
  std::byte* slots_;
  std::uint32_t next_ = 0;  // slots written, or read, so far
};

}  // namespace convoy
