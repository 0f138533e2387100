// SPDX-License-Identifier: Apache-2.0
//
// StepBoard: a page of memory where each rank of a machine notes the step it is at, so
// that its launcher can still tell when the rank is dead. A note is one store.

#pragma once

#include <atomic>
#include <cstdint>

#include "convoy/system/descriptor.h"

namespace convoy {

class StepBoard {
 public:
  /// A new board, for a launcher.
  explicit StepBoard(int places);

  /// The board that a launcher has passed on as an open file. Closes it.
  StepBoard(Descriptor file, int places);

  ~StepBoard();
  StepBoard(const StepBoard&) = delete;
  StepBoard& operator=(const StepBoard&) = delete;

  /// To pass on.
  int file() const { return file_.get(); }

  /// Where the rank at that place notes its step; 0: not yet at any.
  std::atomic<std::uint64_t>& step(int placement) { return places_[placement].step; }

 private:
  /// A cache line each: ranks do not slow each other.
  struct alignas(64) Line {
    std::atomic<std::uint64_t> step;
  };

  void map();

  Descriptor file_;
  std::size_t bytes_;
  Line* places_ = nullptr;
};

}  // namespace convoy
