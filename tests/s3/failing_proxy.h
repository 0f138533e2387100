// SPDX-License-Identifier: Apache-2.0
//
// FailingProxy: a connection between a client and a server of this machine that fails as
// told. A fault begins with a request whose first line has a certain text.

#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "convoy/system/descriptor.h"

namespace convoy {

struct ProxyFault {
  enum class Kind {
    answer_500,   // the server never hears of it
    cut_request,  // the connection breaks after `after` bytes of the request
    cut_answer,   // ... of the answer
    silence,      // nothing passes from now on
    slow          // everything passes, `after` bytes at a time, a hundred times a second
  };
  Kind kind = Kind::silence;
  std::string at{};  // "PUT /models/x"; empty: any request
  std::size_t after = 0;
  int times = INT_MAX;
};

inline sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// A socket that listens at a free port of the loopback, and that port.
inline std::pair<Descriptor, int> listen_anywhere() {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof(address);
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (::bind(socket.get(), any, size) != 0 || ::listen(socket.get(), 16) != 0 ||
      ::getsockname(socket.get(), any, &size) != 0) {
    throw std::runtime_error("no port to listen at");
  }
  return {std::move(socket), ntohs(address.sin_port)};
}

/// A port at which nobody listens.
inline int closed_port() { return listen_anywhere().second; }

class FailingProxy {
 public:
  explicit FailingProxy(int server_port) : server_port_(server_port) {
    auto [socket, port] = listen_anywhere();
    port_ = port;
    acceptor_ =
        std::thread([this, listener = std::move(socket)] { accept_all(listener); });
  }
  ~FailingProxy() {
    ending_ = true;
    acceptor_.join();
    for (std::thread& connection : connections_) connection.join();
  }
  FailingProxy(const FailingProxy&) = delete;
  FailingProxy& operator=(const FailingProxy&) = delete;

  int port() const { return port_; }

  void set(ProxyFault fault) {
    const std::lock_guard lock(mutex_);
    fault_ = std::move(fault);
  }

  /// "PUT /models/run/checkpoints/last.json" and so on, as they came.
  std::vector<std::string> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  struct Link {
    Descriptor client, server;
    ProxyFault fault{};
    bool faulty = false;        // `fault` is in force
    std::size_t requested = 0;  // bytes since it is
    std::size_t answered = 0;
  };

  void accept_all(const Descriptor& listener) {
    while (!ending_) {
      if (!readable(listener.get())) continue;
      Descriptor client(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
      connections_.emplace_back(
          [this, client = std::move(client)]() mutable { serve(std::move(client)); });
    }
  }

  static bool readable(int descriptor) {
    pollfd wait{descriptor, POLLIN, 0};
    return ::poll(&wait, 1, 20) > 0;
  }

  void serve(Descriptor client) {
    Link link{std::move(client),
              Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))};
    const sockaddr_in address = loopback(server_port_);
    if (::connect(link.server.get(), reinterpret_cast<const sockaddr*>(&address),
                  sizeof(address)) != 0) {
      return;
    }
    while (!ending_ && pass(link)) {
    }
  }

  /// Waits for bytes from either side and passes them on; false: the connection ends.
  bool pass(Link& link) {
    const bool silent = link.faulty && link.fault.kind == ProxyFault::Kind::silence;
    pollfd both[2] = {{link.client.get(), POLLIN, 0}, {link.server.get(), POLLIN, 0}};
    if (::poll(both, 2, 20) <= 0) return true;
    if (silent) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return !is_gone(link.client.get());
    }
    if (both[0].revents != 0 && !pass_request(link)) return false;
    return both[1].revents == 0 || pass_answer(link);
  }

  static bool is_gone(int descriptor) {
    pollfd wait{descriptor, POLLRDHUP, 0};
    return ::poll(&wait, 1, 0) > 0;
  }

  static std::string receive(const Link& link, int descriptor) {
    const bool slow = link.faulty && link.fault.kind == ProxyFault::Kind::slow;
    if (slow) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::string bytes(slow ? link.fault.after : 65536, '\0');
    const ssize_t got = ::recv(descriptor, bytes.data(), bytes.size(), 0);
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
  }

  static bool send_all(int descriptor, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  bool pass_request(Link& link) {
    std::string bytes = receive(link, link.client.get());
    if (bytes.empty()) return false;
    note(bytes, link);
    if (!link.faulty) return send_all(link.server.get(), bytes);
    if (link.fault.kind == ProxyFault::Kind::silence) return true;
    if (link.fault.kind == ProxyFault::Kind::answer_500) return answer_500(link, bytes);
    if (link.fault.kind != ProxyFault::Kind::cut_request) {
      return send_all(link.server.get(), bytes);
    }
    const std::size_t room = link.fault.after - link.requested;
    link.requested += std::min(room, bytes.size());
    return send_all(link.server.get(), bytes.substr(0, room)) && bytes.size() < room;
  }

  bool pass_answer(Link& link) {
    const std::string bytes = receive(link, link.server.get());
    if (bytes.empty()) return false;
    if (!link.faulty || link.fault.kind != ProxyFault::Kind::cut_answer) {
      return send_all(link.client.get(), bytes);
    }
    const std::size_t room = link.fault.after - link.answered;
    link.answered += std::min(room, bytes.size());
    return send_all(link.client.get(), bytes.substr(0, room)) && bytes.size() < room;
  }

  /// Keeps a request's first line, and sets the fault in force if it is meant.
  void note(const std::string& bytes, Link& link) {
    const std::string line = bytes.substr(0, bytes.find(" HTTP/1.1\r\n"));
    if (line.size() == bytes.size() || line.find('\n') != std::string::npos) return;
    const std::lock_guard lock(mutex_);
    requests_.push_back(line);
    if (fault_.times <= 0 || line.find(fault_.at) == std::string::npos) return;
    --fault_.times;
    link.fault = fault_;
    link.faulty = true;
  }

  /// The whole request is read first: a client that is still sending might not look.
  bool answer_500(Link& link, std::string request) {
    const std::size_t head = request.find("\r\n\r\n");
    const std::size_t length = request.find("Content-Length: ");
    std::size_t body = length < head ? std::stoul(request.substr(length + 16)) : 0;
    while (request.size() < head + 4 + body) {
      const std::string more = receive(link, link.client.get());
      if (more.empty()) return false;
      request += more;
    }
    send_all(link.client.get(),
             "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 79\r\n"
             "Connection: close\r\n\r\n"
             "<Error><Code>InternalError</Code><Message>Please try again."
             "</Message></Error>  ");
    return false;
  }

  const int server_port_;
  int port_ = 0;
  std::atomic<bool> ending_ = false;
  mutable std::mutex mutex_;
  ProxyFault fault_{.times = 0};
  std::vector<std::string> requests_;
  std::vector<std::thread> connections_;  // grown by the acceptor, joined after it
  std::thread acceptor_;
};

}  // namespace convoy
