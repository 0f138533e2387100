// SPDX-License-Identifier: Apache-2.0
//
// CutLine: a line between a worker and a server that breaks when the worker next says
// something, before the server hears any of it.

#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "convoy/ps_transport/worker_port.h"
#include "convoy/wire/socket.h"

namespace convoy {

class CutLine {
 public:
  ~CutLine() {
    stop_ = true;
    if (accepting_.joinable()) accepting_.join();
    for (std::thread& line : lines_) line.join();
  }

  /// Where to connect to instead. Once.
  ServerAddress leading_to(const ServerAddress& target) {
    accepting_ = std::thread([this, target] {
      while (!stop_) {
        if (!is_readable(listener_.socket.get())) continue;
        Descriptor worker(::accept(listener_.socket.get(), nullptr, nullptr));
        lines_.emplace_back([this, target, worker = std::move(worker)] {
          const auto soon = std::chrono::steady_clock::now() + std::chrono::seconds(5);
          const Descriptor server = connect_to({target.host, target.port}, soon);
          while (!stop_ && carry(worker.get(), server.get())) {
          }
        });
      }
    });
    return {"127.0.0.1", listener_.port};
  }

  /// The next word of the worker is the last, and lost. Whoever connects again is heard.
  void cut() { cut_ = true; }

 private:
  static bool is_readable(int socket) {
    pollfd wait{socket, POLLIN, 0};
    return ::poll(&wait, 1, 20) > 0;
  }

  /// What there is, either way. False if the line is to end.
  bool carry(int worker, int server) {
    std::array<pollfd, 2> waits{{{worker, POLLIN, 0}, {server, POLLIN, 0}}};
    ::poll(waits.data(), waits.size(), 20);
    if (waits[0].revents != 0 && (cut_.exchange(false) || !pass(worker, server))) {
      return false;
    }
    return waits[1].revents == 0 || pass(server, worker);
  }

  static bool pass(int from, int to) {
    std::array<char, 1 << 16> bytes;
    const ssize_t count = ::recv(from, bytes.data(), bytes.size(), 0);
    for (ssize_t sent = 0, now = 0; sent < count; sent += now) {
      now = ::send(to, bytes.data() + sent, static_cast<std::size_t>(count - sent),
                   MSG_NOSIGNAL);
      if (now <= 0) return false;
    }
    return count > 0;
  }

  Listener listener_ = listen_on("127.0.0.1", 0);
  std::atomic<bool> stop_ = false, cut_ = false;
  std::vector<std::thread> lines_;
  std::thread accepting_;
};

}  // namespace convoy
