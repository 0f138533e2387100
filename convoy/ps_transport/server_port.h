// SPDX-License-Identifier: Apache-2.0
//
// ServerPort: the listening side of a parameter server.
//
// One thread admits connections (wire/admission.h); one thread per worker reads and
// writes. Arrivals are queued in order and handled by one thread, the server's:
//
//   while (auto arrival = port.next(wait)) {
//     ... update the values ...
//     port.assign(arrival->worker, assignment, values);
//   }
//
// A worker's numbers stay in the receive buffer until the worker is assigned its next
// batch. A worker on the same machine writes them into memory that it shares with the
// server, where they are used in place: one copy. assign() copies the values, into the
// shared memory if there is one, so that a worker sees complete updates only, and returns
// at once; the worker copies them from there. A worker may leave, be lost and join again
// at any time. A peer that does not know the token, or sends an invalid message, is
// refused, logged and disconnected, and changes nothing.

#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "convoy/ps_transport/worker_session.h"
#include "convoy/ps_transport/worker_slots.h"
#include "convoy/wire/admission.h"
#include "convoy/wire/socket.h"

namespace convoy {

/// One thread calls next(), next_change(), assign(), refuse() and finish(); any thread
/// may call the others.
class ServerPort : private WorkerSlots {
 public:
  /// Accepts workers from now on. Reserves memory for all of their messages.
  ServerPort(Listener listener, const ServerPortOptions& options);
  /// Disconnects all workers.
  ~ServerPort();
  ServerPort(const ServerPort&) = delete;
  ServerPort& operator=(const ServerPort&) = delete;

  using WorkerSlots::assign;
  using WorkerSlots::finish;
  using WorkerSlots::is_connected;
  using WorkerSlots::next;
  using WorkerSlots::next_change;
  using WorkerSlots::refuse;

  std::uint64_t bytes_sent() const { return traffic_.sent; }
  std::uint64_t bytes_received() const { return traffic_.received; }

 private:
  void admit_until_stopped();
  void serve(ProvenPeer peer);
  void log(const std::string& line);

  const ServerPortOptions options_;
  PortTraffic traffic_;
  std::mutex logging_;
  Admission admission_;
  SessionContext context_;
  Descriptor wake_;
  std::atomic<bool> stop_ = false;
  /// Used by the thread only, while it runs.
  std::list<std::unique_ptr<WorkerSession>> sessions_;
  std::thread thread_;
};

}  // namespace convoy
