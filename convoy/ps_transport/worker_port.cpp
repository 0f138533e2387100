// SPDX-License-Identifier: Apache-2.0

#include "convoy/ps_transport/worker_port.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/ps_transport/server_line.h"
#include "convoy/wire/handshake.h"
#include "convoy/wire/socket.h"

namespace convoy {
namespace {

constexpr int kBeatsInATimeout = 4;

}  // namespace

class WorkerPort::Impl {
 public:
  explicit Impl(const WorkerPortOptions& options) : options_(options) {
    check(options_.servers.size() == options_.ranges.size() && !options_.servers.empty(),
          "every server has a range");
    const Steady::time_point deadline = Steady::now() + options_.timeout;
    for (std::size_t i = 0; i < options_.servers.size(); ++i) connect(i, deadline);
  }

  ~Impl() {
    for (const auto& server : servers_) say_goodbye(*server);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Assignment push(Push push, const PushedSums& sums, FlatBuffer& values) {
    check(push.microbatches.size() == options_.microbatches &&
              sums.gradients.count() == options_.partials &&
              sums.gradients.dtype() == options_.gradient_type,
          "a push has the sizes that were announced");
    for (const auto& server : servers_) send_push(*server, push, sums);
    return collect(values);
  }

  /// Waits for the answers of all servers.
  Assignment collect(FlatBuffer& values) {
    for (const auto& server : servers_) {
      server->answer.reset();
      server->last_heard = Steady::now();
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
  void connect(std::size_t i, Steady::time_point deadline) {
    const ServerAddress& address = options_.servers[i];
    const int number = static_cast<int>(i);
    const ServiceAddress service{address.host, address.port, number,
                                 fmt::format("parameter server {}", i)};
    Descriptor socket = connect_with_token(service, options_.token, deadline);
    servers_.push_back(std::unique_ptr<ServerLine>(new ServerLine{
        .name = to_text(service),
        .number = number,
        .range = options_.ranges[i],
        .statistics = i == 0 ? options_.frozen_statistics : std::span<float>(),
        .types = options_.types,
        .stream = {std::move(socket), options_.timeout, traffic_}}));
    guarded(*servers_.back(), [&](ServerLine& server) { introduce_to(server); });
  }

  void introduce_to(ServerLine& server) {
    const auto beat = static_cast<std::uint64_t>(options_.timeout.count());
    std::size_t pushed = 0;
    for (const Range& range : pushed_of(server)) pushed += range.size();
    const HelloBody hello{
        .worker = static_cast<std::uint64_t>(options_.worker),
        .beat_milliseconds = beat / kBeatsInATimeout,
        .gradients = pushed,
        .statistics = server.number == 0 ? options_.statistics : 0,
        .partials = options_.partials,
        .microbatches = options_.microbatches,
        .constants = server.range.size() - pushed + server.statistics.size(),
        .machine = machine_number(),
        .gradient_type = options_.gradient_type,
        .pulled_bytes = server.pulled_bytes()};
    server.introduce(hello);
  }

  /// Calls something with a server that may be lost meanwhile.
  template <class Work>
  static void guarded(ServerLine& server, const Work& work) {
    try {
      work(server);
    } catch (const ConnectionLost& lost) {
      server.lose(lost.what());
    }
  }

  void send_push(ServerLine& server, const Push& push, const PushedSums& sums) {
    PushHead head = head_of(push);
    head.version = server.version;
    parts_.assign({bytes_in(head), std::as_bytes(std::span(push.microbatches))});
    const std::size_t words = parts_.size();
    if (options_.gradient_type == Dtype::fp32) {
      add_parts(sums.gradients, pushed_of(server));
    } else {
      add_packed(sums.gradients, pushed_of(server));
    }
    if (server.number == 0 && options_.statistics > 0) {
      check(sums.statistics.count() == options_.partials,
            "statistics have as many partial sums as gradients");
      const Range all = {0, options_.statistics};
      add_parts(sums.statistics, {&all, 1});
    }
    try {
      server.send_push(parts_, words);
    } catch (const ConnectionLost&) {
      // The reason may be in what the server sent before it closed, which is read next.
      server.stream.shut();
    }
  }

  std::span<const Range> pushed_of(const ServerLine& server) const {
    if (options_.pushed.empty()) return {&server.range, 1};
    return options_.pushed[static_cast<std::size_t>(server.number)];
  }

  /// Partial sum by partial sum.
  void add_parts(const PartialSums& sums, std::span<const Range> ranges) {
    for (const float* start : sums.starts({0, 0})) {
      for (const Range& range : ranges) {
        parts_.push_back(std::as_bytes(std::span(start + range.begin, range.size())));
      }
    }
  }

  /// The same, of numbers that are sent in 16 bits.
  void add_packed(const PartialSums& sums, std::span<const Range> ranges) {
    std::size_t size = 0;
    for (const Range& range : ranges) size += range.size() * sums.count();
    packed_.resize(size * bytes_of(sums.dtype()));
    std::byte* to = packed_.data();
    for (const float* start : sums.starts({0, 0})) {
      for (const Range& range : ranges) {
        pack(sums.dtype(), {start + range.begin, range.size()}, to);
        to += range.size() * bytes_of(sums.dtype());
      }
    }
    parts_.emplace_back(packed_);
  }

  /// Returns false if all servers have answered. Otherwise waits_ shows which servers
  /// sent something, or one of them has been silent for too long.
  bool wait_for_some() {
    waits_.clear();
    waited_.clear();
    Steady::time_point limit = Steady::time_point::max();
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

  void receive_answer(ServerLine& server, FlatBuffer& values) const {
    try {
      server.take_frame(values);
    } catch (const ConnectionLost& lost) {
      if (!is_over()) server.lose(lost.what());
      server.answer = Assignment{};  // the answers of the other servers count
    }
  }

  void lose_the_silent() const {
    for (const ServerLine* server : waited_) {
      if (server->is_silent(options_.timeout)) {
        server->lose(
            fmt::format("no data received within {:g} s",
                        std::chrono::duration<double>(options_.timeout).count()));
      }
    }
  }

  bool is_over() const {
    return std::ranges::any_of(servers_, [](const auto& server) {
      return server->answer && server->answer->over;
    });
  }

  /// Returns the assignment that follows from all answers.
  Assignment agreed() const {
    Assignment all = *servers_.front()->answer;
    for (const auto& server : servers_) {
      if (server->answer->over) return *server->answer;
      all.sequence = std::min(all.sequence, server->answer->sequence);
      all.loss_scale = std::min(all.loss_scale, server->answer->loss_scale);
    }
    return all;
  }

  static void say_goodbye(ServerLine& server) {
    try {
      server.stream.send(FrameKind::goodbye);
    } catch (const ConnectionLost&) {
      // The server is gone already.
    }
  }

  const WorkerPortOptions options_;
  PortTraffic traffic_;
  std::vector<std::unique_ptr<ServerLine>> servers_;
  // Members to reuse their memory:
  std::vector<FrameStream::Part> parts_;  // of the frame being sent
  std::vector<std::byte> packed_;         // its gradients, if they are of 16 bits
  std::vector<pollfd> waits_;
  std::vector<ServerLine*> waited_;  // the servers of waits_
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
