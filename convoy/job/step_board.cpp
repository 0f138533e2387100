// SPDX-License-Identifier: Apache-2.0

#include "convoy/job/step_board.h"

#include <sys/mman.h>

#include <cerrno>
#include <utility>

#include "convoy/base/error.h"

namespace convoy {

StepBoard::StepBoard(int places)
    : file_(::memfd_create("convoy-steps", MFD_CLOEXEC)),
      bytes_(static_cast<std::size_t>(places) * sizeof(Line)) {
  if (!file_ || ::ftruncate(file_.get(), static_cast<off_t>(bytes_)) != 0) {
    throw storage_error("memory file", "make one", errno);
  }
  map();
}

StepBoard::StepBoard(Descriptor file, int places)
    : file_(std::move(file)), bytes_(static_cast<std::size_t>(places) * sizeof(Line)) {
  map();
  file_.reset();
}

StepBoard::~StepBoard() { ::munmap(places_, bytes_); }

void StepBoard::map() {
  void* memory =
      ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (memory == MAP_FAILED) throw storage_error("memory file", "map it", errno);
  places_ = static_cast<Line*>(memory);
}

}  // namespace convoy
