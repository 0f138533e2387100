// SPDX-License-Identifier: Apache-2.0
//
// ConnectionTable: the open connections of a server, of which some are closed so that a
// new client is always answered.
//
// A client that connects and sends nothing, or sends slowly, keeps a connection. There
// are at most so many in all and of one address; when one more comes, a random one of
// those that are not being answered is closed. A random one, because closing the oldest
// would let a fast flood close every connection before its request has arrived.

#pragma once

#include <map>
#include <mutex>
#include <random>
#include <string>

#include "convoy/base/clock.h"

namespace convoy {

struct ConnectionLimits {
  std::size_t connections = 256;
  std::size_t per_address = 128;
  double request_seconds = 20;  // from connection or last answer to a complete request
  double answer_seconds = 300;  // to compute and send an answer
};

/// All methods may be called from any thread.
class ConnectionTable {
 public:
  explicit ConnectionTable(const ConnectionLimits& limits) : limits_(limits) {}

  /// A connection is open: its socket is closed only after remove().
  void add(int socket, const std::string& address);
  void remove(int socket);

  /// A request has arrived; its answer has been sent, or the connection has ended.
  void begin_answer(int socket);
  void end_answer(int socket);

  /// Closes those that take too long.
  void close_slow();

  std::size_t size() const;

 private:
  struct Connection {
    std::string address;
    bool answering = false;
    bool closed = false;  // its end was requested
    Stopwatch since{};
  };

  void close_any_of(const std::string* address);
  static void close(int socket, Connection& connection);
  std::size_t open_of(const std::string* address) const;

  const ConnectionLimits limits_;
  mutable std::mutex mutex_;
  std::map<int, Connection> connections_;  // by socket
  std::mt19937 random_{std::random_device()()};
};

}  // namespace convoy
