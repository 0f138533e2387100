// SPDX-License-Identifier: Apache-2.0
//
// SharedMemory: memory that processes of one machine share. It has no name in any file
// system, so nothing is left behind however they end; one process creates it, and the
// others open it through that process's descriptor.

#pragma once

#include <cstddef>
#include <string>

#include "convoy/system/descriptor.h"

namespace convoy {

/// Where other processes find the memory.
struct MemoryPlace {
  int process = 0;
  int descriptor = 0;
};

/// Equal for processes that can see each other and share memory.
std::string machine_identity();

class SharedMemory {
 public:
  /// Creates zero-initialized memory. Throws InputError (storage) if the system refuses.
  explicit SharedMemory(std::size_t bytes);
  /// Opens memory that another process created. Throws InputError (storage), also if it
  /// has another size.
  SharedMemory(const MemoryPlace& place, std::size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  /// Valid while the process that created the memory holds it. Requires: this process
  /// created it.
  MemoryPlace place() const;

  std::byte* data() const { return data_; }

 private:
  void map(int file);

  Descriptor made_;  // open in the process that created it
  std::size_t bytes_;
  std::byte* data_ = nullptr;
};

}  // namespace convoy
