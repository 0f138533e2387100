// SPDX-License-Identifier: Apache-2.0

#include "convoy/rendezvous/store_server.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <list>
#include <map>
#include <utility>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/rendezvous/job_event.h"
#include "convoy/rendezvous/store_connection.h"
#include "convoy/system/quiet_thread.h"
#include "convoy/wire/admission.h"

namespace convoy {
namespace {

constexpr int kTickMilliseconds = 200;  // maximum delay until a deadline is noticed
constexpr std::size_t kMostKeys = 100'000;
// Descriptors of the hosting process besides connections.
constexpr std::size_t kOtherFiles = 128;

double seconds(Steady::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

/// Reserves descriptors for all members, the maximum number of strangers, and the rest.
void reserve_for(const RosterOptions& roster) {
  const auto members =
      static_cast<std::size_t>(roster.ranks) + static_cast<std::size_t>(roster.nodes);
  reserve_descriptors(members + kMostStrangers + kOtherFiles,
                      fmt::format("the rendezvous of {} ranks", roster.ranks));
}

}  // namespace

/// The loop of the thread, which alone uses everything except the two atomics.
class StoreServer::Loop {
 public:
  Loop(Descriptor listening, StoreServerOptions options)
      : options_(std::move(options)),
        admission_(std::move(listening), {.token = options_.token,
                                          .time_to_prove = options_.stranger,
                                          .log = options_.log}),
        roster_(options_.roster),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    check(static_cast<bool>(wake_), "the system has an eventfd");
    reserve_for(options_.roster);
  }

  void run() {
    while (!stop_) {
      wait();
      for (ProvenPeer& peer : admission_.advance()) {
        connections_.emplace_back(std::move(peer));
      }
      for (auto i = connections_.begin(); i != connections_.end();) {
        const auto next = std::next(i);
        serve(i);
        i = next;
      }
      look_at_the_clock();
      // Messages to other peers are written at once, not when those next send something.
      for (StoreConnection& connection : connections_) connection.write();
      members_ = static_cast<int>(
          std::ranges::count(connections_, true, &StoreConnection::is_member));
    }
  }

  void stop() {
    stop_ = true;
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t ignored = ::write(wake_.get(), &one, sizeof(one));
  }

  int members() const { return members_; }

 private:
  using Connections = std::list<StoreConnection>;
  using Connection = Connections::iterator;

  void wait() {
    std::vector<pollfd> polled{{wake_.get(), POLLIN, 0}};
    admission_.add_to(polled);
    for (const StoreConnection& one : connections_) {
      const auto events = static_cast<short>(one.out.empty() ? POLLIN : POLLIN | POLLOUT);
      polled.push_back({one.socket.get(), events, 0});
    }
    ::poll(polled.data(), polled.size(), kTickMilliseconds);
  }

  void serve(Connection connection) {
    const bool open = connection->read();
    if (!connection->is_member && !look_at_hello(connection)) return;
    if (connection->is_member && !handle_messages(connection)) return;
    if (!open || !connection->write()) closed(connection);
  }

  /// Returns false if the connection is gone.
  bool look_at_hello(Connection connection) {
    const std::optional<Message> message = connection->in.next(kMostHello);
    if (!message) return !connection->in.is_bad() || refuse(connection, "no hello");
    const std::optional<Hello> hello =
        message->kind == MessageKind::hello ? decode_hello(message->value) : std::nullopt;
    if (!hello) return refuse(connection, "no hello");
    if (const auto refused = roster_.admit(*hello)) {
      connection->send({.kind = MessageKind::refused,
                        .number = static_cast<std::uint64_t>(refused->kind),
                        .value = bytes_of(refused->answer)});
      return refuse(connection, fmt::format("{} on {} (pid {}): {}",
                                            name_of(hello->kind, hello->number),
                                            hello->host, hello->pid, refused->reason));
    }
    connection->hello = *hello;
    connection->is_member = true;
    connection->send({.kind = MessageKind::admitted});
    if (roster_.is_complete()) publish(JobComplete{});
    return true;
  }

  /// Returns false if the connection is gone.
  bool handle_messages(Connection connection) {
    while (const auto message = connection->in.next(kMostMessage)) {
      if (message->kind == MessageKind::leave) {
        roster_.release(connection->hello);
        connections_.erase(connection);
        return false;
      }
      handle(*connection, *message);
    }
    if (connection->in.is_bad()) {
      lose(connection, "sent an invalid message", /*silent=*/false);
      return false;
    }
    return true;
  }

  void handle(StoreConnection& from, const Message& message) {
    switch (message.kind) {
      case MessageKind::set:
        set(message.key, message.value);
        break;
      case MessageKind::claim:
        if (!values_.contains(message.key)) set(message.key, message.value);
        answer(from, message.id, message.key);
        break;
      case MessageKind::get:
        get(from, message);
        break;
      case MessageKind::watch:
        watch(from, message.key);
        break;
      case MessageKind::beat:
        from.step = message.number;
        from.send({.kind = MessageKind::beat});
        break;
      default:
        break;  // only a server sends these
    }
  }

  template <class Event>
  void publish(const Event& event) {
    const StoreEntry entry = entry_of(event);
    set(entry.key, bytes_of(entry.value));
  }

  void set(const std::string& key, const Bytes& value) {
    if (values_.size() >= kMostKeys && !values_.contains(key)) return;
    values_[key] = value;
    for (StoreConnection& one : connections_) {
      std::erase_if(one.waits, [&](const StoreConnection::Wait& wait) {
        if (wait.key == key) answer(one, wait.id, key);
        return wait.key == key;
      });
      const bool watches = std::ranges::any_of(
          one.watches,
          [&](const std::string& prefix) { return key.starts_with(prefix); });
      if (watches) notify(one, key, value);
    }
  }

  void get(StoreConnection& from, const Message& message) {
    if (values_.contains(message.key)) return answer(from, message.id, message.key);
    const auto limit = std::min<std::uint64_t>(message.number, 1'000'000'000);
    from.waits.push_back(
        {message.id, message.key, Steady::now() + std::chrono::milliseconds(limit)});
  }

  void answer(StoreConnection& to, std::uint32_t id, const std::string& key) {
    const auto value = values_.find(key);
    if (value == values_.end()) {
      to.send({.kind = MessageKind::absent, .id = id});
    } else {
      to.send({.kind = MessageKind::value, .id = id, .value = value->second});
    }
  }

  void watch(StoreConnection& from, const std::string& prefix) {
    from.watches.push_back(prefix);
    for (const auto& [key, value] : values_) {
      if (key.starts_with(prefix)) notify(from, key, value);
    }
  }

  static void notify(StoreConnection& to, const std::string& key, const Bytes& value) {
    to.send({.kind = MessageKind::notice, .key = key, .value = value});
  }

  void look_at_the_clock() {
    const Steady::time_point now = Steady::now();
    for (auto i = connections_.begin(); i != connections_.end();) {
      const auto next = std::next(i);
      end_waits(*i, now);
      expire(i, now);
      i = next;
    }
    if (!roster_.is_complete()) look_for_missing(now);
  }

  static void end_waits(StoreConnection& one, Steady::time_point now) {
    std::erase_if(one.waits, [&](const StoreConnection::Wait& wait) {
      const bool over = wait.deadline <= now;
      if (over) one.send({.kind = MessageKind::absent, .id = wait.id});
      return over;
    });
  }

  void expire(Connection connection, Steady::time_point now) {
    const Steady::duration silence = now - connection->last_heard;
    if (silence <= options_.silence) return;
    if (!connection->is_member) {
      refuse(connection, "no hello");
    } else {
      lose(connection, fmt::format("has been silent for {:.0f} s", seconds(silence)),
           /*silent=*/true);
    }
  }

  void look_for_missing(Steady::time_point now) {
    const auto waited = now - started_;
    if (waited > options_.join_timeout && !values_.contains(kFailedKey)) {
      publish(JobFailed{{ExitCode::peer_unreachable,
                         fmt::format("timed out waiting for ranks: {}, waited {:.0f} s "
                                     "(cluster.timeout)",
                                     roster_.missing(), seconds(waited))}});
    }
    if (now < say_next_ || values_.contains(kFailedKey)) return;
    say_next_ = now + options_.say_missing;
    log(fmt::format("{}, waited {:.0f} s of {:.0f}", roster_.missing(), seconds(waited),
                    seconds(options_.join_timeout)));
  }

  /// Drops a connection that is not a member's. Returns false, because the connection is
  /// gone.
  bool refuse(Connection connection, const std::string& reason) {
    connection->write();
    admission_.log_refusal(connection->peer, reason);
    connections_.erase(connection);
    return false;
  }

  void closed(Connection connection) {
    if (connection->is_member) {
      lose(connection, "is gone: its connection closed", /*silent=*/false);
    } else {
      refuse(connection, "no hello");
    }
  }

  void lose(Connection connection, const std::string& how, bool silent) {
    const Hello hello = connection->hello;
    const std::string at =
        connection->step > 0 ? fmt::format(" (at step {})", connection->step) : "";
    const SessionLost loss{hello.kind, hello.number, silent,
                           fmt::format("{} {}{}", describe(hello), how, at)};
    connections_.erase(connection);
    roster_.release(hello);
    if (roster_.is_elastic(hello)) return lose_elastic(hello.pid, loss);
    publish(loss);
  }

  /// The other ranks continue. The launcher of an elastic rank, if there is one, reports
  /// its death; if a rank is only silent, its launcher ends its process.
  void lose_elastic(int pid, const SessionLost& loss) {
    if (loss.silent) publish(RankSilent{loss.number, pid});
    if (loss.silent || options_.roster.nodes == 0) log(loss.text);
  }

  void log(const std::string& line) const {
    if (options_.log) options_.log(line);
  }

  StoreServerOptions options_;
  Admission admission_;
  StoreRoster roster_;
  Descriptor wake_;
  std::atomic<bool> stop_ = false;
  std::atomic<int> members_ = 0;
  Connections connections_;
  std::map<std::string, Bytes> values_;
  Steady::time_point started_ = Steady::now();
  Steady::time_point say_next_ = started_ + options_.say_missing;
};

StoreServer::StoreServer(Listener listener, StoreServerOptions options)
    : address_(listener.address),
      port_(listener.port),
      loop_(std::make_unique<Loop>(std::move(listener.socket), std::move(options))),
      thread_(quiet_thread([this] { loop_->run(); })) {}

StoreServer::~StoreServer() {
  loop_->stop();
  thread_.join();
}

void StoreServer::wait_until_all_left(std::chrono::milliseconds most) const {
  const auto deadline = Steady::now() + most;
  while (loop_->members() > 0 && Steady::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace convoy
