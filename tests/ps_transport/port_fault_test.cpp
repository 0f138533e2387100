// SPDX-License-Identifier: Apache-2.0
//
// A parameter server and peers that send what no worker sends: each is refused and
// logged, nothing of theirs is queued, and the server serves the others as before.

#include <random>

#include "tests/ps_transport/ports.h"

namespace convoy {
namespace {

using Kind = Arrival::Kind;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

/// A server with a worker, which has to be as well served after each test.
class PortFault : public testing::Test {
 protected:
  void SetUp() override {
    server_.expect(Kind::joined);
    server_.assign(0, 0);
    worker_.join();
  }

  void TearDown() override {
    EXPECT_TRUE(server_.expects_nothing());
    auto answer = meanwhile([&] { return worker_.push(0); });
    const Arrival arrival = server_.expect(Kind::push);
    EXPECT_EQ(copy_of(arrival.gradients.first(kGradients)), filled(kGradients, 0));
    server_.assign(0, 1);
    EXPECT_EQ(answer.get().sequence, 1U);
  }

  std::string refusal_of(const WorkerPortOptions& options, InputKind kind) {
    try {
      TestWorker worker(options);
    } catch (const InputError& error) {
      EXPECT_EQ(error.kind(), kind);
      return error.what();
    }
    ADD_FAILURE() << "was admitted";
    return "";
  }

  /// A second worker that computes its first batch.
  std::unique_ptr<RawWorker> computing_worker() {
    auto worker = std::make_unique<RawWorker>(server_.address(), RawWorker::hello(1));
    server_.expect(Kind::joined, 1);
    server_.assign(1, 0);
    worker->expect_assignment();
    return worker;
  }

  TestServer server_{2};
  TestWorker worker_{worker_options({&server_})};
};

TEST_F(PortFault, AnotherTokenIsRefused) {
  WorkerPortOptions options = worker_options({&server_}, 1);
  options.token = "another token than tests";

  EXPECT_THAT(refusal_of(options, InputKind::admission), HasSubstr("another token"));
  EXPECT_TRUE(server_.logs("a wrong token"));
}

TEST_F(PortFault, APeerThatSpeaksHttpIsDropped) {
  const Stranger stranger(server_.number());
  stranger.send(bytes_of("GET / HTTP/1.1\r\n\r\n"));

  EXPECT_TRUE(stranger.is_closed_within(seconds(3)));
  EXPECT_TRUE(server_.logs("no convoy process"));
}

TEST_F(PortFault, APeerThatSendsNothingIsDroppedAfterAMoment) {
  const Stranger stranger(server_.number());
  const RawWorker without_hello(server_.address());

  EXPECT_TRUE(stranger.is_closed_within(seconds(20)));
  EXPECT_TRUE(without_hello.is_closed_within(seconds(20)));
  EXPECT_TRUE(server_.logs("sent nothing"));
  EXPECT_TRUE(server_.logs("no data received within 5 s"));
}

TEST_F(PortFault, ManyStrangersKeepNobodyOut) {
  std::vector<std::unique_ptr<Stranger>> strangers;
  for (std::size_t i = 0; i < kMostStrangers + 40; ++i) {
    strangers.push_back(std::make_unique<Stranger>(server_.number()));
  }

  auto worker = std::make_unique<TestWorker>(worker_options({&server_}, 1));

  server_.expect(Kind::joined, 1);
  EXPECT_TRUE(server_.logs("too many strangers"));
  worker.reset();
  server_.expect(Kind::lost, 1);
}

TEST_F(PortFault, AWorkerThatThereIsNotIsRefused) {
  for (const int number : {2, -1}) {
    EXPECT_THAT(refusal_of(worker_options({&server_}, number), InputKind::admission),
                HasSubstr("expected: worker 0 to 1"));
  }
}

TEST_F(PortFault, OtherSizesAreRefused) {
  WorkerPortOptions options = worker_options({&server_}, 1);
  options.microbatches = kMicrobatches + 1;
  const std::string text = refusal_of(options, InputKind::settings);
  EXPECT_THAT(text, HasSubstr("found:    37 gradients, 5 statistics, 2 partial sums, "
                              "4 micro-batches in a push of worker 1"));
  EXPECT_THAT(text, HasSubstr("3 micro-batches"));
  EXPECT_THAT(text, HasSubstr("parameter server 0 at 127.0.0.1:"));

  options = worker_options({&server_}, 1);
  options.ranges[0].end += 1;
  refusal_of(options, InputKind::settings);
  options = worker_options({&server_}, 1);
  options.statistics = 0;
  refusal_of(options, InputKind::settings);
  options = worker_options({&server_}, 1);
  options.partials = 1;
  refusal_of(options, InputKind::settings);
}

TEST_F(PortFault, WhoBeginsWithoutAHelloIsRefused) {
  const RawWorker raw(server_.address());
  raw.send(FrameKind::push, Bytes(push_length(RawWorker::hello())));

  EXPECT_TRUE(raw.is_closed_within(seconds(3)));
  EXPECT_TRUE(server_.logs("no hello"));
}

TEST_F(PortFault, AHelloOfAnotherLengthIsRefused) {
  for (const std::uint64_t length : {std::uint64_t{0}, ~std::uint64_t{0}}) {
    const RawWorker raw(server_.address());
    raw.send_head({.kind = FrameKind::hello, .length = length});
    EXPECT_THAT(raw.rejection().found, HasSubstr("a hello of"));
  }
}

TEST_F(PortFault, AnotherMagicIsRefused) {
  const auto raw = computing_worker();
  raw->send_head({.magic = 0x12345678, .kind = FrameKind::push, .length = 0});

  EXPECT_EQ(raw->rejection().found, "something other than a message");
  server_.expect(Kind::lost, 1);
}

TEST_F(PortFault, APushOfAnotherLengthIsRefusedBeforeItsBody) {
  const std::uint64_t right = push_length(RawWorker::hello());
  for (const std::uint64_t length :
       {std::uint64_t{0}, right - 4, right + sizeof(LossSum), ~std::uint64_t{0}}) {
    const auto raw = computing_worker();
    raw->send_head({.kind = FrameKind::push, .length = length});
    EXPECT_EQ(raw->rejection().found, "a push of " + std::to_string(length) + " bytes");
    server_.expect(Kind::lost, 1);
  }
}

TEST_F(PortFault, APushBeforeTheLastOneIsAnsweredIsRefused) {
  const auto raw = computing_worker();
  const Bytes push(push_length(RawWorker::hello()));
  raw->send(FrameKind::push, push);
  server_.expect(Kind::push, 1);
  raw->send(FrameKind::push, push);

  server_.expect(Kind::lost, 1);
  EXPECT_TRUE(server_.logs("a push before the last one was answered"));
}

TEST_F(PortFault, APushBeforeTheFirstAssignmentIsRefused) {
  const RawWorker raw(server_.address(), RawWorker::hello(1));
  server_.expect(Kind::joined, 1);
  raw.send(FrameKind::push, Bytes(push_length(RawWorker::hello())));

  server_.expect(Kind::lost, 1);
}

TEST_F(PortFault, AServersMessageIsRefused) {
  for (const FrameKind kind : {FrameKind::hello, FrameKind::assignment, FrameKind::over,
                               static_cast<FrameKind>(99)}) {
    const auto raw = computing_worker();
    raw->send_head({.kind = kind});
    EXPECT_EQ(raw->rejection().found, "a message that no worker sends");
    server_.expect(Kind::lost, 1);
  }
}

TEST_F(PortFault, APushThatBreaksOffIsNotQueued) {
  const Bytes push(push_length(RawWorker::hello()));
  for (const std::size_t length : {std::size_t{0}, std::size_t{70}, push.size() - 1}) {
    auto raw = computing_worker();
    raw->send_head({.kind = FrameKind::push, .length = push.size()});
    raw->send(std::span(push).first(length));
    raw.reset();
    server_.expect(Kind::lost, 1);
  }
}

TEST_F(PortFault, HalfAHeadIsALoss) {
  auto raw = computing_worker();
  raw->send(Bytes(7));
  raw.reset();

  server_.expect(Kind::lost, 1);
}

TEST_F(PortFault, RandomBytesAreALoss) {
  std::mt19937 random(1);
  for (int i = 0; i < 30; ++i) {
    auto raw = computing_worker();
    Bytes bytes(random() % 2000 + 1);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    raw->send(bytes);
    raw.reset();
    server_.expect(Kind::lost, 1);
  }
}

}  // namespace
}  // namespace convoy
