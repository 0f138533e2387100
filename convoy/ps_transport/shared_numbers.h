// SPDX-License-Identifier: Apache-2.0
//
// SharedNumbers: shared memory for what a worker pushes and pulls, if it and its server
// are on one machine. Frames then carry only the rest.
//
// It belongs to one session, not to the worker: a process that was declared lost and
// continues later writes to memory that is no longer read.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "convoy/comm/shared_memory.h"
#include "convoy/ps_transport/frame.h"

namespace convoy {

/// Equal for processes that can see each other and share memory.
std::uint64_t machine_number();

class SharedNumbers {
 public:
  /// Creates the memory for a session. Throws InputError (storage).
  explicit SharedNumbers(const HelloBody& sizes);
  /// Opens a server's memory. Throws InputError (storage) if it is on another machine or
  /// in another namespace.
  SharedNumbers(const HelloBody& sizes, const WelcomeBody& welcome);

  /// Where a worker finds it.
  WelcomeBody welcome() const;

  /// Gradients, followed by statistics, and values, as they are sent.
  std::span<std::byte> pushed() const;
  std::span<std::byte> values() const;

 private:
  std::size_t pushed_bytes_, values_bytes_;
  SharedMemory memory_;
  std::uint64_t key_;  // the memory begins with it
};

/// Opens the memory that a welcome names, if there is any and it can be opened here.
std::unique_ptr<SharedNumbers> find_shared_numbers(const HelloBody& sizes,
                                                   const WelcomeBody& welcome);

/// Creates memory for a worker whose hello had those sizes, if it is on this machine,
/// connected from this machine's address, and memory can be allocated.
std::unique_ptr<SharedNumbers> make_shared_numbers(const HelloBody& sizes, int socket);

}  // namespace convoy
