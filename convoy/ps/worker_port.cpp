// SPDX-License-Identifier: Apache-2.0

#include "convoy/ps/worker_port.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/comm/handshake.h"
#include "convoy/comm/socket.h"
#include "convoy/ps/frame_stream.h"
#include "convoy/ps/shared_numbers.h"

namespace convoy {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kBeatsInATimeout = 4;

InputError not_admitted(const std::string& where, Handshake outcome) {
  if (outcome == Handshake::wrong_token) {
    return {InputKind::admission,
            {.where = where,
             .found = "another token than this process has",
             .expected = "the same token",
             .hint = "CONVOY_TOKEN or CONVOY_TOKEN_FILE must be the same everywhere"}};
  }
  return {InputKind::admission,
          {.where = where,
           .found = "a service that is not convoy's",
           .expected = "a parameter server of this job",
           .hint = "another job or program uses this port"}};
}

/// One server, as a worker knows it.
struct Server {
  std::string name;  // "parameter server 0 at 10.0.0.2:4711"
  int number = 0;
  Range range;
  FrameStream stream;
  std::unique_ptr<SharedNumbers> shared{};  // if it is on this machine
  std::uint64_t version = 0;                // of the values that it sent last
  std::optional<Assignment> answer{};       // to what was asked last, if it is there
  Clock::time_point last_heard{};

  [[noreturn]] void lose(const std::string& why) const {
    throw PeerError(number, fmt::format("{} is lost: {}", name, why));
  }

  /// The rest of a frame that is a text.
  Bytes receive_text(std::uint64_t length) {
    if (length > kMostText) lose("it sent what no server sends");
    Bytes body(length);
    stream.receive(body);
    return body;
  }

  [[noreturn]] void throw_refusal(std::uint64_t length) {
    const Rejection why = decode_rejection(receive_text(length));
    throw InputError(
        why.kind,
        {.where = name, .found = why.found, .expected = why.expected, .hint = ""});
  }

  Assignment receive_assignment(std::uint64_t length, FlatBuffer& values) {
    if (length != assignment_length(range.size())) lose("it sent values of another size");
    const Assignment assignment = receive_batch();
    stream.receive(std::as_writable_bytes(values.view(range)));
    return assignment;
  }

  Assignment take_shared_assignment(std::uint64_t length, FlatBuffer& values) {
    if (!shared || length != assignment_length(0)) lose("it sent what no server sends");
    const Assignment assignment = receive_batch();
    stream.take(std::as_writable_bytes(values.view(range)), shared->values());
    return assignment;
  }

  /// What is next, before the values for it.
  Assignment receive_batch() {
    AssignmentHead head;
    stream.receive(writable_bytes_in(head));
    version = head.version;
    return {.sequence = head.sequence, .version = head.version};
  }
};

/// A frame that begins as all do.
FrameHead receive_head(Server& from) {
  const FrameHead head = from.stream.receive_head();
  if (head.magic != kFrameMagic) from.lose("it sent what is no message");
  from.last_heard = Clock::now();
  return head;
}

}  // namespace

class WorkerPort::Impl {
 public:
  explicit Impl(const WorkerPortOptions& options) : options_(options) {
    check(options_.servers.size() == options_.ranges.size() && !options_.servers.empty(),
          "every server has a range");
    const Clock::time_point deadline = Clock::now() + options_.timeout;
    for (std::size_t i = 0; i < options_.servers.size(); ++i) connect(i, deadline);
  }

  ~Impl() {
    for (const auto& server : servers_) say_goodbye(*server);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Assignment push(Push push, const PushedSums& sums, FlatBuffer& values) {
    check(push.lanes.size() == options_.lanes &&
              sums.gradients.count() == options_.partials,
          "a push has the sizes that were announced");
    for (const auto& server : servers_) send_push(*server, push, sums);
    return collect(values);
  }

  /// Waits for an answer of each server.
  Assignment collect(FlatBuffer& values) {
    for (const auto& server : servers_) {
      server->answer.reset();
      server->last_heard = Clock::now();
    }
    while (wait_for_some()) {
      for (std::size_t i = 0; i < waits_.size(); ++i) {
        if (waits_[i].revents != 0) receive_answer(*waited_[i], values);
      }
      lose_the_silent();
    }
    return agreed();
  }

  const PortTraffic& traffic() const { return traffic_; }

 private:
  void connect(std::size_t i, Clock::time_point deadline) {
    const ServerAddress& address = options_.servers[i];
    const int number = static_cast<int>(i);
    const std::string role = fmt::format("parameter server {}", i);
    const std::string name = fmt::format("{} at {}:{}", role, address.host, address.port);
    Descriptor socket = connect_to(address.host, address.port, deadline, {number, role});
    const Handshake outcome = prove_token(socket.get(), options_.token, deadline);
    if (outcome == Handshake::silent) {
      throw PeerError(number, fmt::format("{} does not answer", name));
    }
    if (outcome != Handshake::proven) throw not_admitted(name, outcome);
    servers_.push_back(std::unique_ptr<Server>(
        new Server{.name = name,
                   .number = number,
                   .range = options_.ranges[i],
                   .stream = {std::move(socket), options_.timeout, traffic_}}));
    guarded(*servers_.back(), [&](Server& server) { introduce_to(server); });
  }

  void introduce_to(Server& server) {
    const auto beat = static_cast<std::uint64_t>(options_.timeout.count());
    const HelloBody hello{.worker = static_cast<std::uint64_t>(options_.worker),
                          .beat_milliseconds = beat / kBeatsInATimeout,
                          .gradients = server.range.size(),
                          .statistics = server.number == 0 ? options_.statistics : 0,
                          .partials = options_.partials,
                          .lanes = options_.lanes,
                          .machine = machine_number()};
    server.stream.send(FrameKind::hello, bytes_in(hello));
    const FrameHead head = receive_head(server);
    if (head.kind == FrameKind::refused) server.throw_refusal(head.length);
    if (head.kind != FrameKind::admitted || head.length != sizeof(WelcomeBody)) {
      server.lose("it sent no welcome");
    }
    WelcomeBody welcome;
    server.stream.receive(writable_bytes_in(welcome));
    server.shared = find_shared_numbers(hello, welcome);
  }

  /// Does something with a server that may turn out to be gone.
  template <class Work>
  static void guarded(Server& server, const Work& work) {
    try {
      work(server);
    } catch (const ConnectionLost& lost) {
      server.lose(lost.what());
    }
  }

  void send_push(Server& server, const Push& push, const PushedSums& sums) {
    PushHead head = head_of(push);
    head.version = server.version;
    parts_.assign({bytes_in(head), std::as_bytes(std::span(push.lanes))});
    const std::size_t words = parts_.size();
    add_parts(sums.gradients, server.range);
    if (server.number == 0 && options_.statistics > 0) {
      check(sums.statistics.count() == options_.partials,
            "statistics have as many partial sums as gradients");
      add_parts(sums.statistics, {0, options_.statistics});
    }
    try {
      send_parts(server, words);
    } catch (const ConnectionLost&) {
      // It may have said why before it closed: whoever reads will hear it.
      server.stream.shut();
    }
  }

  /// Of which all but the first so many are numbers, which may be put where the server
  /// sees them.
  void send_parts(Server& server, std::size_t words) const {
    const std::span<const FrameStream::Part> parts = parts_;
    if (server.shared) {
      server.stream.put(parts.subspan(words), server.shared->pushed());
      server.stream.send(FrameKind::shared_push, parts.first(words));
    } else {
      server.stream.send(FrameKind::push, parts);
    }
  }

  void add_parts(const PartialSums& sums, Range range) {
    for (const float* start : sums.starts(range)) {
      parts_.push_back(std::as_bytes(std::span(start, range.size())));
    }
  }

  /// False if all have answered. Otherwise waits_ says who has something to say, or
  /// somebody has been silent for too long.
  bool wait_for_some() {
    waits_.clear();
    waited_.clear();
    Clock::time_point limit = Clock::time_point::max();
    for (const auto& server : servers_) {
      if (server->answer) continue;
      waits_.push_back({server->stream.socket(), POLLIN, 0});
      waited_.push_back(server.get());
      limit = std::min(limit, server->last_heard + options_.timeout);
    }
    if (waits_.empty()) return false;
    ::poll(waits_.data(), waits_.size(), milliseconds_until(limit) + 1);
    return true;
  }

  void receive_answer(Server& server, FlatBuffer& values) const {
    try {
      take_frame(server, values);
    } catch (const ConnectionLost& lost) {
      if (!is_over()) server.lose(lost.what());
      server.answer = Assignment{};  // what the others said stands
    }
  }

  static void take_frame(Server& server, FlatBuffer& values) {
    const FrameHead head = receive_head(server);
    switch (head.kind) {
      case FrameKind::beat:
        break;
      case FrameKind::assignment:
        server.answer = server.receive_assignment(head.length, values);
        break;
      case FrameKind::shared_assignment:
        server.answer = server.take_shared_assignment(head.length, values);
        break;
      case FrameKind::over:
        server.answer = decode_over(server.receive_text(head.length));
        break;
      case FrameKind::refused:
        server.throw_refusal(head.length);
      default:
        server.lose("it sent what no server sends");
    }
    server.last_heard = Clock::now();
  }

  void lose_the_silent() const {
    for (std::size_t i = 0; i < waits_.size(); ++i) {
      const Server& server = *waited_[i];
      if (Clock::now() <= server.last_heard + options_.timeout) continue;
      pollfd still{server.stream.socket(), POLLIN,
                   0};  // others' values may have taken long
      if (::poll(&still, 1, 0) == 0) {
        server.lose(fmt::format("it has been silent for {:g} s",
                                std::chrono::duration<double>(options_.timeout).count()));
      }
    }
  }

  bool is_over() const {
    return std::ranges::any_of(servers_, [](const auto& server) {
      return server->answer && server->answer->over;
    });
  }

  /// What the servers' answers come to.
  Assignment agreed() const {
    Assignment all = *servers_.front()->answer;
    for (const auto& server : servers_) {
      if (server->answer->over) return *server->answer;
      all.sequence = std::min(all.sequence, server->answer->sequence);
    }
    return all;
  }

  static void say_goodbye(Server& server) {
    try {
      server.stream.send(FrameKind::goodbye);
    } catch (const ConnectionLost&) {
      // It is gone already.
    }
  }

  const WorkerPortOptions options_;
  PortTraffic traffic_;
  std::vector<std::unique_ptr<Server>> servers_;
  // Kept for their memory:
  std::vector<FrameStream::Part> parts_;  // of the frame that is sent
  std::vector<pollfd> waits_;
  std::vector<Server*> waited_;  // whose they are
};

WorkerPort::WorkerPort(const WorkerPortOptions& options)
    : impl_(std::make_unique<Impl>(options)) {}

WorkerPort::~WorkerPort() = default;

Assignment WorkerPort::join(FlatBuffer& values) { return impl_->collect(values); }

Assignment WorkerPort::push(Push push, const PushedSums& sums, FlatBuffer& values) {
  return impl_->push(std::move(push), sums, values);
}

std::uint64_t WorkerPort::bytes_sent() const { return impl_->traffic().sent; }
std::uint64_t WorkerPort::bytes_received() const { return impl_->traffic().received; }

}  // namespace convoy
