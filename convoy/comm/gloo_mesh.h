// SPDX-License-Identifier: Apache-2.0
//
// GlooMesh: connections from every rank to every other, over Gloo's TCP transport.
//
// There are two connections between any two ranks. One carries data. The other, the
// lifeline, carries at most one number: a rank that gives up because it lost another
// sends that rank's number before it closes. So all ranks name the rank that was lost
// first, and not one that ended because of it.
//
// MeshSockets makes the connections and lets no stranger in; Gloo uses them.

#pragma once

#include <gloo/context.h>
#include <gloo/transport/unbound_buffer.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "convoy/base/clock.h"
#include "convoy/comm/comm.h"
#include "convoy/comm/comm_options.h"
#include "convoy/rendezvous/key_value_store.h"

namespace convoy {

class GlooMesh {
 public:
  /// Connects; returns when all ranks are connected to this one.
  GlooMesh(const CommOptions& options, KeyValueStore& store);
  ~GlooMesh();
  GlooMesh(const GlooMesh&) = delete;
  GlooMesh& operator=(const GlooMesh&) = delete;

  /// The current operation, for messages.
  void begin(Operation operation) { operation_ = operation; }

  std::chrono::milliseconds timeout() const { return timeout_; }
  const std::shared_ptr<::gloo::Context>& data() const { return data_; }

  /// Throws PeerError that names `peer`, or the rank because of which `peer` has left.
  /// Tells the other ranks first.
  [[noreturn]] void lose(int peer, bool silent);

 private:
  void watch();
  int cause_of_leaving(int peer);
  void send_farewell(int cause);

  int rank_, ranks_;
  std::chrono::milliseconds timeout_;
  Operation operation_ = Operation::barrier;
  std::shared_ptr<::gloo::Context> data_, lifeline_;
  std::vector<std::int32_t> farewells_;  // by rank; kNone until received
  std::vector<std::unique_ptr<::gloo::transport::UnboundBuffer>> watches_;  // by rank
};

/// Memory for messages to and from one rank. An exception of Gloo becomes a PeerError.
/// Messages of one slot arrive in the order in which they were sent.
class GlooBuffer {
 public:
  /// Borrows both for as long as it lives.
  GlooBuffer(GlooMesh& mesh, int peer, std::span<std::byte> memory);
  GlooBuffer(GlooMesh& mesh, int peer, std::span<const std::byte> memory);

  void send(std::uint64_t slot, std::size_t offset, std::size_t bytes);
  void receive(std::uint64_t slot, std::size_t offset, std::size_t bytes);

  /// Waits for one more message to be sent, or to be received.
  void wait_sent();
  void wait_received();

 private:
  template <class Action>
  void run(const Action& action);

  GlooMesh& mesh_;
  int peer_;
  std::unique_ptr<::gloo::transport::UnboundBuffer> buffer_;
};

}  // namespace convoy
