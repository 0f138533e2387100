// SPDX-License-Identifier: Apache-2.0
//
// ServerPort: where workers reach a parameter server.
//
// A thread for each connection reads and writes; what arrives is queued in order of
// arrival and handled by one thread, the server's:
//
//   while (auto arrival = port.next(wait)) {
//     ... update the values ...
//     port.assign(arrival->worker, assignment, values);
//   }
//
// A worker's numbers stay where they were received until it is assigned its next batch.
// A worker of the same machine has put them into memory that it shares with the server,
// and they are used from there: one copy. assign() copies the values, into that memory if
// there is one, so that a worker sees whole updates only, and returns at once; the worker
// copies them from there to its own. A worker may leave, be lost and come back at
// any time. Whoever does not know the token, or sends what no worker would, is refused,
// logged and cut off, and changes nothing.

#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoy/ps_transport/push.h"
#include "convoy/wire/socket.h"

namespace convoy {

struct ServerPortOptions {
  std::string token;          // of the job
  int workers = 1;            // numbered from 0
  std::size_t gradients = 0;  // floats of one gradient: the server's range
  /// Floats of what batch norms found; the first server's alone.
  std::size_t statistics = 0;
  std::vector<std::size_t> partials{};  // by worker: how many of each come with a push
  std::vector<std::size_t> microbatches{};  // by worker: how many losses come with a push
  std::chrono::milliseconds silence = std::chrono::seconds(60);  // that ends a session
  /// Says in one line who came, left, was lost or was refused, and why. By any
  /// thread, one at a time.
  std::function<void(const std::string&)> log = nullptr;
};

struct Arrival {
  enum class Kind { joined, push, lost };

  Kind kind = Kind::joined;
  int worker = 0;
  Push push{};                    // of a push, as are these
  std::span<float> gradients{};   // [partial][element]; the server may write to them
  std::span<float> statistics{};  // [partial][element]
  std::shared_ptr<const void> memory{};  // which both are in, if the worker shares it
};

/// One thread calls next(), next_change(), assign(), refuse() and finish(); the rest is
/// for any.
class ServerPort {
 public:
  /// Accepts workers from now on. Has memory for all that they may send.
  ServerPort(Listener listener, const ServerPortOptions& options);
  /// Cuts off whoever is still connected.
  ~ServerPort();
  ServerPort(const ServerPort&) = delete;
  ServerPort& operator=(const ServerPort&) = delete;

  /// The next arrival; none if there was none for that long. After `lost` nothing of that
  /// worker comes before its next `joined`; a push that was queued before comes first.
  /// Lost is who leaves in any way without having been told that the run is over.
  std::optional<Arrival> next(std::chrono::milliseconds wait);

  /// The next worker that joined or was lost, past pushes of others; none if there is
  /// none now.
  std::optional<Arrival> next_change();

  /// Answers a worker that has joined or pushed, with the values of the server's range.
  /// If the worker is gone, or has an answer already, nothing happens.
  void assign(int worker, const Assignment& assignment, std::span<const float> values);

  /// Cuts a worker off whose push is not acceptable, tells it and the log why. It is
  /// lost.
  void refuse(int worker, const std::string& why);

  /// Tells every worker, connected or yet to come, that the run is over, and returns when
  /// the connected ones have been told and have gone, or after that long.
  void finish(const Assignment& over, std::chrono::milliseconds wait);

  bool is_connected(int worker) const;
  std::uint64_t bytes_sent() const;
  std::uint64_t bytes_received() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace convoy
