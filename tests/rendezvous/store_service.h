// SPDX-License-Identifier: Apache-2.0
//
// A rendezvous for tests, with clients, and with connections that do as they please.

#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "convoy/rendezvous/store_client.h"
#include "convoy/rendezvous/store_server.h"
#include "convoy/wire/socket.h"
#include "convoy/wire/token_proof.h"

namespace convoy {

inline const char* const kTestToken = "a token for tests only";
inline const char* const kTestSettings = "train.epochs=6\ntrain.seed=1\n";

/// Whether it holds within some seconds.
inline bool eventually(const std::function<bool()>& holds) {
  for (int i = 0; i < 5000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return false;
}

class StoreService {
 public:
  explicit StoreService(int ranks, StoreServerOptions options = {}) : ranks_(ranks) {
    options.token = kTestToken;
    options.roster.ranks = ranks;
    options.roster.settings = kTestSettings;
    options.log = [this](const std::string& line) {
      const std::lock_guard lock(mutex_);
      log_.push_back(line);
    };
    server_ = std::make_unique<StoreServer>(listen_on("127.0.0.1", 0), options);
  }

  int port() const { return server_->port(); }
  StoreServer& server() { return *server_; }
  void stop() { server_.reset(); }

  StoreClientOptions client_options(int rank) const {
    return {.address = "127.0.0.1",
            .port = port(),
            .token = kTestToken,
            .hello = {.kind = PeerKind::rank,
                      .number = rank,
                      .ranks = ranks_,
                      .pid = 4711,
                      .host = "testhost"},
            .settings = kTestSettings,
            .timeout = std::chrono::seconds(10)};
  }

  std::unique_ptr<StoreClient> join(int rank) const {
    return std::make_unique<StoreClient>(client_options(rank));
  }

  /// Whether a line with that text is, or soon will be, in the log.
  bool logs(const std::string& text) {
    return eventually([&] { return log().find(text) != std::string::npos; });
  }

  std::string log() {
    const std::lock_guard lock(mutex_);
    std::string all;
    for (const std::string& line : log_) all += line + "\n";
    return all;
  }

 private:
  int ranks_;
  std::mutex mutex_;
  std::vector<std::string> log_;
  std::unique_ptr<StoreServer> server_;
};

/// A connection that says what a test wants.
class Stranger {
 public:
  explicit Stranger(int port, const std::string& host = "127.0.0.1")
      : socket_(connect_to({host, port},
                           std::chrono::steady_clock::now() + std::chrono::seconds(5))) {}

  void send(std::span<const std::byte> bytes) const {
    ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  void send(const Message& message) const {
    Bytes bytes;
    append(message, bytes);
    send(bytes);
  }

  /// What comes, up to that many bytes; fewer if the other side closes.
  Bytes receive(std::size_t most) const {
    Bytes bytes(most);
    const ssize_t got = ::recv(socket_.get(), bytes.data(), most, MSG_WAITALL);
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
  }

  bool is_closed_within(std::chrono::milliseconds time) const {
    const auto deadline = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < deadline) {
      pollfd wait{socket_.get(), POLLIN, 0};
      std::byte byte;
      if (::poll(&wait, 1, 20) > 0 && ::recv(socket_.get(), &byte, 1, 0) <= 0)
        return true;
    }
    return false;
  }

  /// Proves knowledge of the token, and returns the answer it gave.
  Bytes prove_token() const {
    const Nonce theirs = *nonce_of(receive(kChallengeBytes));
    const Bytes proof = answer(kTestToken, theirs, fresh_nonce());
    send(proof);
    receive(kWelcomeBytes);
    return proof;
  }

 private:
  Descriptor socket_;
};

/// A member of the job that ends as a crashed process does: without a leave.
inline std::unique_ptr<Stranger> join_to_crash(const StoreService& service, int rank) {
  Hello hello = service.client_options(rank).hello;
  hello.settings_hash = settings_hash(kTestSettings);
  auto member = std::make_unique<Stranger>(service.port());
  member->prove_token();
  member->send({.kind = MessageKind::hello, .value = encode(hello)});
  Bytes admitted;
  append({.kind = MessageKind::admitted}, admitted);
  EXPECT_EQ(member->receive(admitted.size()), admitted);
  return member;
}

/// Events as a session gets them, from any thread.
class Events {
 public:
  auto listener() {
    return [this](const JobEvent& event) {
      const std::lock_guard lock(mutex_);
      events_.push_back(event);
    };
  }

  /// The first event of that type, if there is one.
  template <class Event>
  std::optional<Event> find() {
    const std::lock_guard lock(mutex_);
    for (const JobEvent& event : events_) {
      if (const auto* found = std::get_if<Event>(&event)) return *found;
    }
    return std::nullopt;
  }

  /// The same, as soon as there is one; an empty one if there is none for seconds.
  template <class Event>
  Event wait_for() {
    EXPECT_TRUE(eventually([&] { return find<Event>().has_value(); }));
    return find<Event>().value_or(Event{});
  }

 private:
  std::mutex mutex_;
  std::vector<JobEvent> events_;
};

template <class Error>
std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

}  // namespace convoy
