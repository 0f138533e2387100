// SPDX-License-Identifier: Apache-2.0

#include "convoy/ps_transport/server_port.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <list>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/ps_transport/worker_session.h"
#include "convoy/system/quiet_thread.h"

namespace convoy {
namespace {

constexpr int kTickMilliseconds = 200;  // how late an ended session is cleared away
constexpr std::ptrdiff_t kMostStrangers = 16;  // beside all workers at once
constexpr int kMostRefusalLines = 200;

}  // namespace

/// The accepting thread, and what sessions share.
class ServerPort::Impl {
 public:
  Impl(Listener listener, const ServerPortOptions& options)
      : options_(options),
        slots_(options_),
        listening_(std::move(listener.socket)),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    check(static_cast<bool>(wake_), "the system has an eventfd");
    thread_ = quiet_thread([this] { accept_until_stopped(); });
  }

  ~Impl() {
    stop_ = true;
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t ignored = ::write(wake_.get(), &one, sizeof(one));
    thread_.join();
    // All at once: sessions may wait for each other.
    for (const auto& session : sessions_) session->cut("the server ends");
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  WorkerSlots& slots() { return slots_; }
  const PortTraffic& traffic() const { return traffic_; }

 private:
  void accept_until_stopped() {
    while (!stop_) {
      std::array<pollfd, 2> waits{
          {{wake_.get(), POLLIN, 0}, {listening_.get(), POLLIN, 0}}};
      ::poll(waits.data(), waits.size(), kTickMilliseconds);
      sessions_.remove_if([](const auto& session) { return session->is_done(); });
      while (!stop_ && accept_one()) {
      }
    }
  }

  /// False if nobody is there, or nobody can be served.
  bool accept_one() {
    Descriptor socket(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket) {
      if (errno == EMFILE || errno == ENFILE) rest();
      return false;
    }
    make_room();
    try {
      sessions_.push_back(std::make_unique<WorkerSession>(std::move(socket), context_));
    } catch (const std::system_error& error) {
      refuse(fmt::format("refused a connection: {}", error.what()));
      rest();
    }
    return true;
  }

  /// What the system has run out of may be there again in a moment.
  static void rest() {
    std::this_thread::sleep_for(std::chrono::milliseconds(kTickMilliseconds));
  }

  /// Of too many strangers the oldest goes: who knows the token proves it in no time.
  void make_room() {
    const auto is_stranger = [](const auto& session) { return session->is_stranger(); };
    if (std::ranges::count_if(sessions_, is_stranger) <
        kMostStrangers + options_.workers) {
      return;
    }
    const auto oldest = std::ranges::find_if(sessions_, is_stranger);
    if (oldest == sessions_.end()) return;  // the last of them has just been admitted
    (*oldest)->cut("too many strangers");
    sessions_.erase(oldest);
  }

  void log(const std::string& line) {
    const std::lock_guard lock(logging_);
    if (options_.log) options_.log(line);
  }

  /// Strangers may be many; the log stays short.
  void refuse(const std::string& line) {
    if (refusals_++ < kMostRefusalLines) log(line);
  }

  const ServerPortOptions options_;
  WorkerSlots slots_;
  PortTraffic traffic_;
  std::mutex logging_;
  std::atomic<int> refusals_ = 0;
  SessionContext context_{options_, slots_, traffic_,
                          [this](const std::string& line) { log(line); },
                          [this](const std::string& line) { refuse(line); }};
  Descriptor listening_, wake_;
  std::atomic<bool> stop_ = false;
  std::list<std::unique_ptr<WorkerSession>> sessions_;  // the thread's, while it runs
  std::thread thread_;
};

ServerPort::ServerPort(Listener listener, const ServerPortOptions& options)
    : impl_(std::make_unique<Impl>(std::move(listener), options)) {}

ServerPort::~ServerPort() = default;

std::optional<Arrival> ServerPort::next(std::chrono::milliseconds wait) {
  return impl_->slots().next(wait);
}

std::optional<Arrival> ServerPort::next_change() { return impl_->slots().next_change(); }

void ServerPort::assign(int worker, const Assignment& assignment,
                        std::span<const float> values) {
  impl_->slots().assign(worker, assignment, values);
}

void ServerPort::refuse(int worker, const std::string& why) {
  impl_->slots().refuse(worker, why);
}

void ServerPort::finish(const Assignment& over, std::chrono::milliseconds wait) {
  impl_->slots().finish(over, wait);
}

bool ServerPort::is_connected(int worker) const {
  return impl_->slots().is_connected(worker);
}

std::uint64_t ServerPort::bytes_sent() const { return impl_->traffic().sent; }
std::uint64_t ServerPort::bytes_received() const { return impl_->traffic().received; }

}  // namespace convoy
