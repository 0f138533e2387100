// SPDX-License-Identifier: Apache-2.0
//
// Parameter servers and workers for tests, on loopback.

#pragma once

#include <cstring>
#include <future>
#include <numeric>

#include "convoy/ps_transport/frame.h"
#include "convoy/ps_transport/server_port.h"
#include "convoy/ps_transport/worker_port.h"
#include "tests/rendezvous/store_service.h"

namespace convoy {

inline constexpr std::size_t kGradients = 37;  // floats of a server's range
inline constexpr std::size_t kStatistics = 5;
inline constexpr std::size_t kPartials = 2;
inline constexpr std::size_t kMicrobatches = 3;

/// Where servers of tests are: for a worker its own machine, and as if it were another.
/// A worker that connects to the second has the first as its own address.
inline constexpr const char* kHere = "127.0.0.1";
inline constexpr const char* kOtherHost = "127.0.0.2";

inline Layout layout_of(std::size_t size) {
  LayoutBuilder builder(1);
  builder.begin_unit();
  builder.add("numbers", {size}, Role::weight);
  return std::move(builder).build();
}

/// Numbers that tell where they come from.
inline float number_of(std::size_t source, std::size_t index) {
  return static_cast<float>(source * 1000 + index);
}

inline void fill(std::span<float> numbers, std::size_t source) {
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = number_of(source, i);
}

inline std::vector<float> filled(std::size_t size, std::size_t source) {
  std::vector<float> numbers(size);
  fill(numbers, source);
  return numbers;
}

inline std::vector<float> copy_of(std::span<const float> numbers) {
  return {numbers.begin(), numbers.end()};
}

/// A server's port, whose thread is the test's.
class TestServer {
 public:
  explicit TestServer(int workers = 1, const char* host = kHere,
                      std::size_t statistics = kStatistics)
      : host_(host) {
    Listener listener = listen_on(host_, 0);
    number_ = listener.port;
    port_ = std::make_unique<ServerPort>(
        std::move(listener),
        ServerPortOptions{
            .token = kTestToken,
            .workers = workers,
            .gradients = kGradients,
            .statistics = statistics,
            .partials = std::vector<std::size_t>(workers, kPartials),
            .microbatches = std::vector<std::size_t>(workers, kMicrobatches),
            .silence = std::chrono::seconds(30),
            .log = [this](const std::string& line) {
              const std::lock_guard lock(mutex_);
              log_ += line + "\n";
            }});
  }

  ServerPort& operator*() { return *port_; }
  ServerPort* operator->() { return port_.get(); }
  ServerAddress address() const { return {host_, number_}; }
  int number() const { return number_; }
  void stop() { port_.reset(); }

  /// The next arrival, which has to be of that kind and worker.
  Arrival expect(Arrival::Kind kind, int worker = 0) {
    const auto arrival = port_->next(std::chrono::seconds(10));
    EXPECT_TRUE(arrival.has_value()) << log();
    if (!arrival) return {};
    EXPECT_EQ(arrival->kind, kind) << log();
    EXPECT_EQ(arrival->worker, worker);
    return *arrival;
  }

  bool expects_nothing() { return !port_->next(std::chrono::milliseconds(100)); }

  void assign(int worker, std::uint64_t sequence, std::uint64_t version = 0) {
    port_->assign(worker, {.sequence = sequence, .version = version},
                  filled(kGradients, version));
  }

  std::string log() {
    const std::lock_guard lock(mutex_);
    return log_;
  }
  bool logs(const std::string& text) {
    return eventually([&] { return log().find(text) != std::string::npos; });
  }

 private:
  std::mutex mutex_;
  std::string log_, host_;
  int number_ = 0;
  std::unique_ptr<ServerPort> port_;
};

inline WorkerPortOptions worker_options(const std::vector<TestServer*>& servers,
                                        int worker = 0) {
  WorkerPortOptions options{.servers = {},
                            .ranges = {},
                            .token = kTestToken,
                            .worker = worker,
                            .statistics = kStatistics,
                            .partials = kPartials,
                            .microbatches = kMicrobatches,
                            .timeout = std::chrono::seconds(10)};
  for (const TestServer* server : servers) {
    const std::size_t begin = options.ranges.size() * kGradients;
    options.servers.push_back(server->address());
    options.ranges.push_back({begin, begin + kGradients});
  }
  return options;
}

/// A worker with all its numbers.
class TestWorker {
 public:
  explicit TestWorker(const WorkerPortOptions& options)
      : layout_(layout_of(options.ranges.back().end)), port_(options) {}

  Assignment join() { return port_.join(values_); }

  /// A batch's numbers are of source 2 * sequence and the one after it.
  Assignment push(std::uint64_t sequence) {
    for (std::size_t i = 0; i < kPartials; ++i) {
      fill({gradients_[i].data(), gradients_[i].size()}, 2 * sequence + i);
      fill({statistics_[i].data(), statistics_[i].size()}, 2 * sequence + i + 500);
    }
    return port_.push(push_of_batch(sequence), sums_, values_);
  }

  static Push push_of_batch(std::uint64_t sequence) {
    return {.sequence = sequence,
            .version = 0,
            .samples = 64,
            .own_seconds = 0.5,
            .data_seconds = 0.25,
            .slept_seconds = 0.125,
            .exchange_seconds = 2,
            .microbatches = {
                {1.5, 2, 3}, {4.5, 5, 6}, {7.5, 8, static_cast<std::uint64_t>(9)}}};
  }

  std::vector<float> values(Range range) const { return copy_of(values_.view(range)); }
  WorkerPort& port() { return port_; }

 private:
  Layout layout_, statistics_layout_ = layout_of(kStatistics);
  FlatBuffer values_{layout_};
  std::vector<FlatBuffer> gradients_ = two_of(layout_);
  std::vector<FlatBuffer> statistics_ = two_of(statistics_layout_);
  PushedSums sums_{PartialSums({&gradients_[0], &gradients_[1]}),
                   PartialSums({&statistics_[0], &statistics_[1]})};
  WorkerPort port_;

  static std::vector<FlatBuffer> two_of(const Layout& layout) {
    std::vector<FlatBuffer> buffers;
    for (std::size_t i = 0; i < kPartials; ++i) buffers.emplace_back(layout);
    return buffers;
  }
};

/// Runs in a thread of its own, since ports wait for each other.
template <class Work>
auto meanwhile(Work work) {
  return std::async(std::launch::async, std::move(work));
}

/// A connection that has proved itself, and then says what a test wants.
class RawWorker : public Stranger {
 public:
  using Stranger::send;

  explicit RawWorker(const ServerAddress& server) : Stranger(server.port, server.host) {
    prove_token();
  }
  RawWorker(const ServerAddress& server, const HelloBody& hello) : RawWorker(server) {
    send(FrameKind::hello, bytes_in(hello));
  }

  static HelloBody hello(std::uint64_t worker = 0) {
    return {.worker = worker,
            .beat_milliseconds = 1000,
            .gradients = kGradients,
            .statistics = kStatistics,
            .partials = kPartials,
            .microbatches = kMicrobatches,
            .pulled_bytes = kGradients * sizeof(float)};
  }

  void send(FrameKind kind, std::span<const std::byte> body) const {
    send_head({.kind = kind, .length = body.size()});
    send(body);
  }
  void send_head(const FrameHead& head) const { send(bytes_in(head)); }

  FrameHead receive_head() const { return receive_body<FrameHead>(); }

  template <class Body>
  Body receive_body() const {
    Body body;
    const Bytes bytes = receive(sizeof(body));
    EXPECT_EQ(bytes.size(), sizeof(body));
    if (bytes.size() == sizeof(body)) std::memcpy(&body, bytes.data(), sizeof(body));
    return body;
  }

  WelcomeBody expect_welcome() const {
    EXPECT_EQ(receive_head().kind, FrameKind::admitted);
    return receive_body<WelcomeBody>();
  }

  /// Waits for the first assignment: a worker may push from then on.
  void expect_assignment() const {
    expect_welcome();
    EXPECT_EQ(receive_head().kind, FrameKind::assignment);
    receive(assignment_length(kGradients * sizeof(float)));
  }

  /// The refusal that comes, behind whatever comes before it.
  Rejection rejection() const {
    for (;;) {
      const FrameHead head = receive_head();
      const Bytes body = receive(head.length);
      if (head.kind == FrameKind::refused) return decode_rejection(body);
      if (body.size() < head.length || head.kind == FrameKind::beat) return {};
    }
  }
};

}  // namespace convoy
