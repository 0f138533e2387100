// SPDX-License-Identifier: Apache-2.0
//
// FrameStream: a connection that carries frames, between a worker and a server.
//
// Numbers are sent and received in place. A host that vanishes is noticed within
// `silence`: the kernel probes it while the connection is idle (keep-alive), and limits
// the wait for acknowledgements (TCP_USER_TIMEOUT).

#pragma once

#include <sys/uio.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "convoy/ps_transport/frame.h"
#include "convoy/system/descriptor.h"

namespace convoy {

/// Bytes over all connections of a port.
struct PortTraffic {
  std::atomic<std::uint64_t> sent = 0, received = 0;
};

/// A connection that cannot be used any more; what() says why.
class ConnectionLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class FrameStream {
 public:
  using Part = std::span<const std::byte>;

  /// Borrows `traffic`.
  FrameStream(Descriptor socket, std::chrono::milliseconds silence, PortTraffic& traffic);

  void set_silence(std::chrono::milliseconds silence);

  /// This and the next two throw ConnectionLost.
  void send(FrameKind kind, std::span<const Part> parts = {});
  void send(FrameKind kind, Part body) { send(kind, std::span(&body, 1)); }

  /// Waits at most `silence` for the head, and for each further piece of a frame.
  FrameHead receive_head();
  void receive(std::span<std::byte> bytes);

  /// The same with shared memory: copied, and counted as traffic.
  void put(std::span<const Part> parts, std::span<std::byte> shared);
  void take(std::span<std::byte> bytes, Part shared);

  /// Ends the connection, and calls that wait for it. Any thread may call it.
  void shut() const;

  int socket() const { return socket_.get(); }
  /// Bytes received so far. Any thread may call it.
  std::uint64_t received() const { return received_.load(std::memory_order_relaxed); }
  /// Whether the other host's kernel has acknowledged everything that was sent. Any
  /// thread may call it.
  bool is_acknowledged() const;

 private:
  std::size_t send_some(std::span<iovec> parts);
  ConnectionLost lost(int error) const;

  Descriptor socket_;
  std::chrono::milliseconds silence_{};
  PortTraffic& traffic_;
  std::vector<iovec> parts_;  // a member to reuse its memory
  std::atomic<std::uint64_t> received_ = 0;
};

}  // namespace convoy
