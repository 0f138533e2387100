// SPDX-License-Identifier: Apache-2.0
//
// StoreServer: the rendezvous. A key-value service over TCP in the job's first process.
//
//   StoreServer server(listen_on("127.0.0.1", 0), {.token = token, .ranks = 4});
//
// It admits who proves to know the job's token and holds a place of the job that is free.
// A session stays open for as long as its rank or agent lives; one that closes without a
// leave, or is silent for too long, is a loss, which all who watch hear of at once; that
// of an elastic rank is only logged, and its place is free again. Who proves nothing is
// dropped after a moment and logged, and disturbs nobody: one thread serves all, waits
// for none, and keeps few connections whose owner it does not know.
//
// While ranks are missing it says every few seconds who. When time is up it sets
// kFailedKey, when all are there kCompleteKey.

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
  std::chrono::milliseconds silence = std::chrono::seconds(60);     // before it is a loss
  std::chrono::milliseconds stranger = std::chrono::seconds(5);     // to prove oneself
  std::chrono::milliseconds say_missing = std::chrono::seconds(5);  // how often
  std::function<void(const std::string&)> log = nullptr;  // called by its thread
};

class StoreServer {
 public:
  StoreServer(Listener listener, StoreServerOptions options);

  /// Closes all sessions: whoever is still there loses the service.
  ~StoreServer();
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;

  const std::string& address() const { return address_; }
  int port() const { return port_; }

  /// Waits until nobody has a session any more, or the time is up.
  void wait_until_all_left(std::chrono::milliseconds most) const;

 private:
  class Loop;

  std::string address_;
  int port_;
  std::unique_ptr<Loop> loop_;
  std::thread thread_;
};

}  // namespace convoy
