// SPDX-License-Identifier: Apache-2.0
//
// SharedMemory: memory that processes of one machine have in common. It has no name in
// any file system, so nothing is left behind however they end; one process makes it, and
// the others open it through that one's descriptor.

#pragma once

#include <cstddef>
#include <string>

#include "convoy/system/descriptor.h"

namespace convoy {

/// Where the memory can be found: pass it on.
struct MemoryPlace {
  int process = 0;
  int descriptor = 0;
};

/// Equal for processes that can see each other and share memory.
std::string machine_identity();

class SharedMemory {
 public:
  /// Makes it, all zero. Throws InputError (storage) if it cannot be had.
  explicit SharedMemory(std::size_t bytes);
  /// Opens what another made. Throws InputError (storage), also if it has another size.
  SharedMemory(const MemoryPlace& place, std::size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  /// Valid while who made it, and only that one may ask, holds it.
  MemoryPlace place() const;

  std::byte* data() const { return data_; }

 private:
  void map(int file);

  Descriptor made_;  // open where it was made
  std::size_t bytes_;
  std::byte* data_ = nullptr;
};

}  // namespace convoy
