// SPDX-License-Identifier: Apache-2.0
//
// SharedNumbers: memory for what a worker pushes and pulls, where it and its server are
// on one machine. Frames then announce it, and carry the rest.
//
// It belongs to one session, not to the worker: a process that was given up for lost and
// continues later writes where nobody reads.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "convoy/comm/shared_memory.h"
#include "convoy/ps_transport/frame.h"

namespace convoy {

/// The same for processes that can see each other and share memory.
std::uint64_t machine_number();

class SharedNumbers {
 public:
  /// Makes the memory for a session. Throws InputError (storage).
  explicit SharedNumbers(const HelloBody& sizes);
  /// Opens a server's. Throws InputError (storage) if this is not the machine, or not the
  /// place, that it is in.
  SharedNumbers(const HelloBody& sizes, const WelcomeBody& welcome);

  /// Where a worker finds it.
  WelcomeBody welcome() const;

  /// Gradients, then statistics.
  std::span<float> pushed() const;
  std::span<float> values() const;

 private:
  float* at(std::size_t byte) const;

  std::size_t pushed_floats_, values_floats_;
  SharedMemory memory_;
  std::uint64_t key_;  // which the memory begins with
};

/// Those that a welcome names, if there are any and they can be opened here.
std::unique_ptr<SharedNumbers> find_shared_numbers(const HelloBody& sizes,
                                                   const WelcomeBody& welcome);

/// For a worker that sent those sizes over the socket, if it is on this machine, by this
/// machine's address, and there is memory.
std::unique_ptr<SharedNumbers> make_shared_numbers(const HelloBody& sizes, int socket);

}  // namespace convoy
