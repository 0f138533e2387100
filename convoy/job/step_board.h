// SPDX-License-Identifier: Apache-2.0
//
// StepBoard: a page of shared memory where each rank of a machine stores its step, so
// that its launcher knows it when the rank is dead. An update is one store.

#pragma once

#include <atomic>
#include <cstdint>

#include "convoy/system/descriptor.h"

namespace convoy {

class StepBoard {
 public:
  /// Makes a new board, for a launcher.
  explicit StepBoard(int places);

  /// Opens the board that a launcher has passed as an open file. Closes the file.
  StepBoard(Descriptor file, int places);

  ~StepBoard();
  StepBoard(const StepBoard&) = delete;
  StepBoard& operator=(const StepBoard&) = delete;

  /// The descriptor, to pass to a rank.
  int file() const { return file_.get(); }

  /// The step of the rank with that local rank; 0: none yet.
  std::atomic<std::uint64_t>& step(int placement) { return places_[placement].step; }

 private:
  /// One cache line per rank avoids false sharing.
  struct alignas(64) Line {
    std::atomic<std::uint64_t> step;
  };

  void map();

  Descriptor file_;
  std::size_t bytes_;
  Line* places_ = nullptr;
};

}  // namespace convoy
