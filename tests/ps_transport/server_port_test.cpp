// SPDX-License-Identifier: Apache-2.0
//
// What passes between workers and one parameter server, and who is there.

#include "tests/ps_transport/ports.h"

namespace convoy {
namespace {

using Kind = Arrival::Kind;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr Range kAll{0, kGradients};

/// Numbers are shared with a worker of the same machine, and sent to others.
class ServerPortAt : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Both, ServerPortAt, testing::Values(kHere, kOtherHost),
                         [](const auto& info) {
                           return std::string(info.param == kHere ? "Here" : "Elsewhere");
                         });

TEST_P(ServerPortAt, GivesAWorkerThatJoinsABatchAndValues) {
  TestServer server(1, GetParam());
  TestWorker worker(worker_options({&server}));
  server.expect(Kind::joined);
  EXPECT_TRUE(server->is_connected(0));
  server.assign(0, 7, 3);

  EXPECT_EQ(worker.join(), (Assignment{.sequence = 7, .version = 3}));

  EXPECT_EQ(worker.values(kAll), filled(kGradients, 3));
}

TEST_P(ServerPortAt, ReceivesAPushWholeAndAnswersIt) {
  TestServer server(1, GetParam());
  TestWorker worker(worker_options({&server}));
  server.expect(Kind::joined);
  server.assign(0, 4, 2);
  worker.join();

  auto answer = meanwhile([&] { return worker.push(4); });
  const Arrival arrival = server.expect(Kind::push);

  Push expected = TestWorker::push_of_batch(4);
  expected.version = 2;
  EXPECT_EQ(arrival.push, expected);
  EXPECT_EQ(copy_of(arrival.gradients.first(kGradients)), filled(kGradients, 8));
  EXPECT_EQ(copy_of(arrival.gradients.subspan(kGradients)), filled(kGradients, 9));
  EXPECT_EQ(copy_of(arrival.statistics.first(kStatistics)), filled(kStatistics, 508));
  EXPECT_EQ(copy_of(arrival.statistics.subspan(kStatistics)), filled(kStatistics, 509));
  server.assign(0, 5, 3);
  EXPECT_EQ(answer.get(), (Assignment{.sequence = 5, .version = 3}));
  EXPECT_EQ(worker.values(kAll), filled(kGradients, 3));
}

TEST_P(ServerPortAt, CountsTheSameBytesAsItsWorker) {
  TestServer server(1, GetParam());
  TestWorker worker(worker_options({&server}));
  server.expect(Kind::joined);
  server.assign(0, 0);
  worker.join();
  auto answer = meanwhile([&] { return worker.push(0); });
  server.expect(Kind::push);
  server.assign(0, 1);
  answer.get();

  const std::uint64_t hello = sizeof(FrameHead) + sizeof(HelloBody);
  EXPECT_EQ(worker.port().bytes_sent(),
            hello + sizeof(FrameHead) + push_length(RawWorker::hello()));
  EXPECT_EQ(worker.port().bytes_received(),
            3 * sizeof(FrameHead) + sizeof(WelcomeBody) +
                2 * assignment_length(kGradients * sizeof(float)));
  EXPECT_EQ(server->bytes_received(), worker.port().bytes_sent());
  EXPECT_TRUE(eventually([&] {  // sent is counted when it has been sent
    return server->bytes_sent() == worker.port().bytes_received();
  })) << server->bytes_sent();
}

/// Works through its batches and checks what it is told.
void work(const WorkerPortOptions& options, std::uint64_t batches) {
  TestWorker worker(options);
  Assignment next = worker.join();
  for (std::uint64_t i = 0; i < batches; ++i) {
    ASSERT_FALSE(next.over);
    ASSERT_EQ(next.sequence, i);
    ASSERT_EQ(worker.values(kAll), filled(kGradients, next.version));
    next = worker.push(i);
  }
  EXPECT_TRUE(next.over);
}

TEST_P(ServerPortAt, ServesManyWorkersAndKeepsTheOrderOfEach) {
  constexpr int kWorkers = 8;
  constexpr std::uint64_t kBatches = 200;
  TestServer server(kWorkers, GetParam());
  std::vector<std::future<void>> workers;
  for (int i = 0; i < kWorkers; ++i) {
    workers.push_back(
        meanwhile([&, i] { work(worker_options({&server}, i), kBatches); }));
  }

  std::vector<std::uint64_t> had(kWorkers, 0);
  for (std::uint64_t version = 0; version < kWorkers * kBatches;) {
    const auto arrival = server->next(seconds(20));
    ASSERT_TRUE(arrival);
    if (arrival->kind == Kind::push) {
      std::uint64_t& sequence = had[static_cast<std::size_t>(arrival->worker)];
      ASSERT_EQ(arrival->push.sequence, sequence);
      ASSERT_EQ(copy_of(arrival->gradients.first(kGradients)),
                filled(kGradients, 2 * sequence));
      ++sequence;
      ++version;
      if (sequence == kBatches) continue;  // answered by finish()
    }
    server.assign(arrival->worker, had[static_cast<std::size_t>(arrival->worker)],
                  version);
  }
  server->finish({.reason = "all is done"}, seconds(20));
  for (auto& worker : workers) worker.get();
  EXPECT_TRUE(server.expects_nothing()) << "who leaves at the end is not lost";
}

TEST(ServerPort, TellsWhoWaitsWhoComputesAndWhoComesThatTheRunIsOver) {
  TestServer server(3);
  TestWorker waiting(worker_options({&server}, 0));
  server.expect(Kind::joined, 0);
  TestWorker computing(worker_options({&server}, 1));
  server.expect(Kind::joined, 1);
  server.assign(1, 0);
  computing.join();
  const Assignment over{.over = true, .code = ExitCode::stopped, .reason = "asked to"};

  server->finish(over, milliseconds(0));

  EXPECT_EQ(waiting.join(), over);
  EXPECT_EQ(computing.push(0), over);
  EXPECT_EQ(TestWorker(worker_options({&server}, 2)).join(), over);
  EXPECT_TRUE(server.expects_nothing());
}

TEST(ServerPort, FinishWaitsUntilWorkersHaveGone) {
  TestServer server;
  auto worker = std::make_unique<TestWorker>(worker_options({&server}));
  server.expect(Kind::joined);
  auto gone = meanwhile([&] {
    worker->join();
    std::this_thread::sleep_for(milliseconds(100));
    worker.reset();
  });

  server->finish({}, seconds(20));

  EXPECT_FALSE(server->is_connected(0));
  gone.get();
  EXPECT_TRUE(server.logs("left"));
}

TEST(ServerPort, FinishDoesNotWaitForeverForAWorkerThatNeverPushes) {
  TestServer server;
  TestWorker worker(worker_options({&server}));
  server.expect(Kind::joined);
  server.assign(0, 0);
  worker.join();
  const auto began = std::chrono::steady_clock::now();

  server->finish({}, milliseconds(200));

  EXPECT_GE(std::chrono::steady_clock::now() - began, milliseconds(200));
  EXPECT_TRUE(server->is_connected(0));
}

TEST(ServerPort, ReportsAWorkerThatIsLostAndTakesItBack) {
  TestServer server;
  auto worker = std::make_unique<TestWorker>(worker_options({&server}));
  server.expect(Kind::joined);
  server.assign(0, 0);
  worker.reset();
  server.expect(Kind::lost);
  EXPECT_FALSE(server->is_connected(0));

  TestWorker again(worker_options({&server}));
  server.expect(Kind::joined);
  server.assign(0, 5);

  EXPECT_EQ(again.join().sequence, 5U);
}

/// A push of a raw worker whose numbers are all zero.
void send_push(const RawWorker& worker, std::uint64_t sequence) {
  Bytes body(push_length(RawWorker::hello()));
  std::memcpy(body.data(), &sequence, sizeof(sequence));
  worker.send(FrameKind::push, body);
}

TEST(ServerPort, AnswersASessionThatHasEndedToNobody) {
  TestServer server;
  auto first = std::make_unique<RawWorker>(server.address(), RawWorker::hello());
  server.expect(Kind::joined);
  server.assign(0, 0);
  first->expect_assignment();
  send_push(*first, 0);
  server.expect(Kind::push);
  first.reset();
  TestWorker second(worker_options({&server}));  // joined, but nobody has looked

  server.assign(0, 111);
  server.expect(Kind::lost);
  server.assign(0, 222);
  server.expect(Kind::joined);
  server.assign(0, 1);
  server.assign(0, 333);  // it has an answer already

  EXPECT_EQ(second.join().sequence, 1U);
  auto answer = meanwhile([&] { return second.push(1); });
  server.expect(Kind::push);
  server.assign(0, 2);
  EXPECT_EQ(answer.get().sequence, 2U);
}

TEST(ServerPort, RefusesASecondHolderWhileTheFirstLives) {
  TestServer server;
  TestWorker first(worker_options({&server}));
  server.expect(Kind::joined);

  const auto come_again = [&] { TestWorker second(worker_options({&server})); };

  EXPECT_THAT(error_of<InputError>(come_again),
              HasSubstr("worker 0 is connected already"));
  server.assign(0, 0);
  first.join();
  EXPECT_THAT(error_of<InputError>(come_again), HasSubstr("one process for each worker"));
  auto answer = meanwhile([&] { return first.push(0); });
  server.expect(Kind::push);
  server.assign(0, 1);
  EXPECT_EQ(answer.get().sequence, 1U) << "the first is served as before";
}

TEST(ServerPort, ReplacesAHolderThatFellSilentInTheMiddleOfAPush) {
  TestServer server;
  RawWorker silent(server.address(), RawWorker::hello());
  server.expect(Kind::joined);
  server.assign(0, 0);
  silent.expect_assignment();
  silent.send_head({.kind = FrameKind::push, .length = push_length(RawWorker::hello())});
  silent.send(Bytes(10));
  std::this_thread::sleep_for(milliseconds(100));

  TestWorker second(worker_options({&server}));

  server.expect(Kind::lost);
  server.expect(Kind::joined);
  EXPECT_TRUE(server.logs("another process took its place"));
}

TEST(ServerPort, CutsOffAWorkerWhosePushIsRefused) {
  TestServer server;
  TestWorker worker(worker_options({&server}));
  server.expect(Kind::joined);
  server.assign(0, 0);
  worker.join();
  auto answer = meanwhile([&] { return worker.push(0); });
  server.expect(Kind::push);

  server->refuse(0, "a version that there is not");

  EXPECT_THAT(error_of<InputError>([&] { answer.get(); }),
              HasSubstr("a version that there is not"));
  server.expect(Kind::lost);
  EXPECT_TRUE(server.logs("is cut off: a version that there is not"));
}

TEST(ServerPort, EndsWithWorkersConnectedWhoAreToldWhichServerIsLost) {
  TestServer server(2);
  TestWorker waiting(worker_options({&server}, 0)),
      computing(worker_options({&server}, 1));
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(server->next(seconds(10)));
  }
  server.assign(1, 0);
  computing.join();
  const Stranger stranger(server.number());

  server.stop();

  const std::string name =
      "parameter server 0 at 127.0.0.1:" + std::to_string(server.number()) + " is lost";
  EXPECT_THAT(error_of<PeerError>([&] { waiting.join(); }), HasSubstr(name));
  EXPECT_THAT(error_of<PeerError>([&] { computing.push(0); }), HasSubstr(name));
}

}  // namespace
}  // namespace convoy
