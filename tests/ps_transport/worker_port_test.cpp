// SPDX-License-Identifier: Apache-2.0
//
// A worker between several servers, and with servers that are late, silent or strange.

#include "convoy/ps_transport/worker_port.h"

#include "tests/ps_transport/ports.h"

namespace convoy {
namespace {

using Kind = Arrival::Kind;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

/// Two servers, each with half of the values; statistics go to the first.
class TwoServers : public testing::Test {
 protected:
  Assignment join(std::uint64_t first, std::uint64_t second) {
    first_.expect(Kind::joined);
    second_.expect(Kind::joined);
    first_.assign(0, first, 10);
    second_.assign(0, second, 20);
    return worker_.join();
  }

  TestServer first_, second_{1, kHere, 0};
  TestWorker worker_{worker_options({&first_, &second_})};
};

TEST_F(TwoServers, EachGiveTheirRangeOfTheValues) {
  join(0, 0);

  EXPECT_EQ(worker_.values({0, kGradients}), filled(kGradients, 10));
  EXPECT_EQ(worker_.values({kGradients, 2 * kGradients}), filled(kGradients, 20));
}

TEST_F(TwoServers, BothHaveAPushBeforeEitherAnswers) {
  join(0, 0);
  auto answer = meanwhile([&] { return worker_.push(0); });

  const Arrival first = first_.expect(Kind::push), second = second_.expect(Kind::push);

  const std::vector<float> all = filled(2 * kGradients, 0);
  EXPECT_EQ(copy_of(first.gradients.first(kGradients)),
            copy_of(std::span(all).first(kGradients)));
  EXPECT_EQ(copy_of(second.gradients.first(kGradients)),
            copy_of(std::span(all).subspan(kGradients)));
  EXPECT_EQ(first.push.version, 10U);
  EXPECT_EQ(second.push.version, 20U);
  EXPECT_EQ(first.statistics.size(), kPartials * kStatistics);
  EXPECT_TRUE(second.statistics.empty());
  second_.assign(0, 1, 21);
  first_.assign(0, 1, 11);
  EXPECT_EQ(answer.get(), (Assignment{.sequence = 1, .version = 11}));
}

TEST_F(TwoServers, WhoDisagreeAreGivenTheEarlierBatchAgain) {
  EXPECT_EQ(join(4, 3).sequence, 3U);

  auto answer = meanwhile([&] { return worker_.push(3); });
  EXPECT_EQ(first_.expect(Kind::push).push.sequence, 3U);
  EXPECT_EQ(second_.expect(Kind::push).push.sequence, 3U);
  first_.assign(0, 4, 10);  // has had it, and says again what it said
  second_.assign(0, 4, 21);

  EXPECT_EQ(answer.get().sequence, 4U);
}

TEST_F(TwoServers, AreOverIfOneSaysSo) {
  join(0, 0);
  const Assignment over{.over = true, .code = ExitCode::diverged, .reason = "not finite"};
  auto answer = meanwhile([&] { return worker_.push(0); });
  first_.expect(Kind::push);
  second_.expect(Kind::push);
  second_->finish(over, milliseconds(0));
  first_.assign(0, 1);

  EXPECT_EQ(answer.get(), over);
}

TEST_F(TwoServers, OfWhomOneIsLostAreNotWaitedFor) {
  join(0, 0);
  auto answer = meanwhile([&] { return worker_.push(0); });
  first_.expect(Kind::push);
  second_.expect(Kind::push);

  second_.stop();

  EXPECT_THAT(error_of<PeerError>([&] { answer.get(); }),
              HasSubstr("parameter server 1 at 127.0.0.1:"));
}

TEST(WorkerPort, WaitsLongerThanItsTimeoutForAServerThatLives) {
  TestServer server;
  WorkerPortOptions options = worker_options({&server});
  options.timeout = seconds(1);
  TestWorker worker(options);
  server.expect(Kind::joined);
  auto answer = meanwhile([&] { return worker.join(); });

  std::this_thread::sleep_for(milliseconds(2500));
  server.assign(0, 1);

  EXPECT_EQ(answer.get().sequence, 1U);
}

/// A service that knows the token, says what it is given, and nothing else.
class Impostor {
 public:
  explicit Impostor(Bytes says) {
    thread_ = std::thread([this, says = std::move(says)] {
      pollfd wait{listener_.socket.get(), POLLIN, 0};
      ::poll(&wait, 1, 10'000);
      socket_ = Descriptor(::accept(listener_.socket.get(), nullptr, nullptr));
      const Nonce ours = fresh_nonce();
      send(challenge(ours));
      Bytes proof(kAnswerBytes);
      ::recv(socket_.get(), proof.data(), proof.size(), MSG_WAITALL);
      send(welcome(kTestToken, ours, *nonce_of(proof)));
      send(says);
    });
  }
  ~Impostor() { thread_.join(); }

  WorkerPortOptions options(milliseconds timeout) const {
    return {.servers = {{"127.0.0.1", listener_.port}},
            .ranges = {{0, kGradients}},
            .token = kTestToken,
            .statistics = kStatistics,
            .partials = kPartials,
            .microbatches = kMicrobatches,
            .timeout = timeout};
  }

 private:
  void send(const Bytes& bytes) const {
    ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }

  Listener listener_ = listen_on("127.0.0.1", 0);
  Descriptor socket_;
  std::thread thread_;
};

/// A welcome that offers nothing, and then the heads of frames.
Bytes welcome_and(const std::vector<FrameHead>& heads) {
  const WelcomeBody nothing;
  const FrameHead head{.kind = FrameKind::admitted, .length = sizeof(nothing)};
  Bytes all;
  for (const auto bytes :
       {bytes_in(head), bytes_in(nothing), std::as_bytes(std::span(heads))}) {
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

std::string error_in_join(const Bytes& says, milliseconds timeout = seconds(10)) {
  const Impostor impostor(says);
  return error_of<PeerError>([&] {
    TestWorker worker(impostor.options(timeout));
    worker.join();
  });
}

TEST(WorkerPort, NoticesAServerThatSendsNothingMore) {
  EXPECT_THAT(error_in_join(welcome_and({}), seconds(1)),
              HasSubstr("no data received within 1 s"));
}

TEST(WorkerPort, NoticesAServerThatNeverWelcomesIt) {
  EXPECT_THAT(error_in_join({}, seconds(1)), HasSubstr("no data received within 1 s"));
}

TEST(WorkerPort, GivesUpAServerThatSendsWhatNoServerSends) {
  EXPECT_THAT(error_in_join(welcome_and({{.magic = 1}})),
              HasSubstr("something other than a message"));
  EXPECT_THAT(error_in_join(welcome_and({{.kind = FrameKind::push}})),
              HasSubstr("an unexpected message"));
  EXPECT_THAT(error_in_join(welcome_and({{.kind = FrameKind::assignment, .length = 20}})),
              HasSubstr("values of a wrong size"));
  EXPECT_THAT(error_in_join(welcome_and(
                  {{.kind = FrameKind::over, .length = std::uint64_t{1} << 60}})),
              HasSubstr("an unexpected message"));
}

TEST(WorkerPort, NamesTheServerThatNobodyAnswersFor) {
  int port = 0;
  { port = listen_on("127.0.0.1", 0).port; }
  TestServer first;
  WorkerPortOptions options = worker_options({&first, &first});
  options.servers[1].port = port;
  options.timeout = seconds(1);

  EXPECT_THAT(error_of<PeerError>([&] { TestWorker worker(options); }),
              HasSubstr("parameter server 1 at 127.0.0.1:" + std::to_string(port) +
                        " cannot be reached"));
}

}  // namespace
}  // namespace convoy
