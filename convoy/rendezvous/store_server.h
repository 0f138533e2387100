// SPDX-License-Identifier: Apache-2.0
//
// StoreServer: the rendezvous, a key-value service over TCP in the job's first process.
//
//   StoreServer server(listen_on("127.0.0.1", 0), {.token = token, .ranks = 4});
//
// It admits peers that prove the job's token (wire/admission.h) and claim a rank or node
// that is free. A session stays open for as long as its rank or launcher lives; a session
// that closes without a leave, or sends nothing for too long, is lost, and every watcher
// gets the event at once; the loss of an elastic rank is only logged, and the rank can
// join again. One thread serves all connections and blocks on none.
//
// While ranks are missing, it logs which ones every few seconds. After `join_timeout` it
// publishes JobFailed; when all have joined, JobComplete.

#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "convoy/rendezvous/store_roster.h"
#include "convoy/wire/socket.h"

namespace convoy {

struct StoreServerOptions {
  std::string token{};
  RosterOptions roster{};
  std::chrono::milliseconds join_timeout = std::chrono::seconds(300);
  /// After which a peer is lost.
  std::chrono::milliseconds silence = std::chrono::seconds(60);
  /// For a stranger to prove the token.
  std::chrono::milliseconds stranger = std::chrono::seconds(5);
  /// Interval of log lines about missing ranks.
  std::chrono::milliseconds say_missing = std::chrono::seconds(5);
  std::function<void(const std::string&)> log = nullptr;  // called by its thread
};

class StoreServer {
 public:
  /// Throws InputError of kind `storage` if the system allows too few open files.
  StoreServer(Listener listener, StoreServerOptions options);

  /// Closes all sessions: connected members lose the service.
  ~StoreServer();
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;

  const std::string& address() const { return address_; }
  int port() const { return port_; }

  /// Waits until all sessions have ended, or the time is up.
  void wait_until_all_left(std::chrono::milliseconds most) const;

 private:
  class Loop;

  std::string address_;
  int port_;
  std::unique_ptr<Loop> loop_;
  std::thread thread_;
};

}  // namespace convoy
