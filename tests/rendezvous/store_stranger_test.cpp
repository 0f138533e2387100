// SPDX-License-Identifier: Apache-2.0
//
// The rendezvous and peers that do not belong to its job: each is refused and logged, and
// the others are served as before. No number of strangers keeps a rank from joining.

#include <atomic>
#include <random>

#include "convoy/wire/admission.h"
#include "tests/rendezvous/store_service.h"

namespace convoy {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

/// A service with one member, which has to be as well served after each test.
class StoreStranger : public testing::Test {
 protected:
  void TearDown() override {
    member_->set("after", "all");
    EXPECT_EQ(text_of(member_->get("after", seconds(5))), "all");
    const auto other = service_.join(1);
    EXPECT_NO_THROW(other->get(kCompleteKey, seconds(5)));
  }

  static Bytes random_bytes(std::size_t count) {
    std::mt19937 random(1);
    Bytes bytes(count);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    return bytes;
  }

  Hello hello() const {
    return {.kind = PeerKind::rank,
            .number = 1,
            .ranks = 2,
            .pid = 1,
            .host = "elsewhere",
            .settings_hash = settings_hash(kTestSettings)};
  }

  StoreService service_{2, {.stranger = milliseconds(500)}};
  std::unique_ptr<StoreClient> member_ = service_.join(0);
};

TEST_F(StoreStranger, WithRandomBytesIsDroppedAtOnce) {
  const Stranger stranger(service_.port());
  stranger.send(random_bytes(100'000));

  EXPECT_TRUE(stranger.is_closed_within(milliseconds(400)));
  EXPECT_TRUE(service_.logs("refused 127.0.0.1:"));
  EXPECT_TRUE(service_.logs("no convoy process"));
}

TEST_F(StoreStranger, ThatSpeaksHttpIsDropped) {
  const Stranger stranger(service_.port());
  stranger.send(bytes_of("GET / HTTP/1.1\r\n\r\n"));

  EXPECT_TRUE(stranger.is_closed_within(milliseconds(400)));
}

TEST_F(StoreStranger, WithAnotherTokenIsRefused) {
  StoreClientOptions options = service_.client_options(1);
  options.token = "another token than tests";

  const std::string error = error_of<InputError>([&] { StoreClient client(options); });

  EXPECT_THAT(error, HasSubstr("another token"));
  EXPECT_TRUE(service_.logs("a wrong token"));
}

TEST_F(StoreStranger, ThatReplaysAHandshakeIsRefused) {
  const Bytes recorded = Stranger(service_.port()).prove_token();

  const Stranger replay(service_.port());
  replay.receive(kChallengeBytes);
  replay.send(recorded);

  const Bytes reply = replay.receive(kWelcomeBytes);
  EXPECT_EQ(reply, Bytes(kWelcomeBytes)) << "all zero: no";
  EXPECT_TRUE(service_.logs("a wrong token"));
}

TEST_F(StoreStranger, ThatIsSilentIsDroppedAfterAMoment) {
  std::vector<std::unique_ptr<Stranger>> silent;
  for (int i = 0; i < 20; ++i) {
    silent.push_back(std::make_unique<Stranger>(service_.port()));
  }

  for (const auto& stranger : silent) {
    EXPECT_TRUE(stranger->is_closed_within(seconds(3)));
  }
  EXPECT_TRUE(service_.logs("sent nothing"));
}

TEST_F(StoreStranger, ThatBringsManyOthersKeepsNobodyOut) {
  std::vector<std::unique_ptr<Stranger>> silent;
  for (std::size_t i = 0; i < kMostStrangers + 40; ++i) {
    silent.push_back(std::make_unique<Stranger>(service_.port()));
  }

  EXPECT_TRUE(service_.logs("too many strangers"));
}

/// Connections that are opened and closed, 150 at a time, until it ends.
class Flood {
 public:
  explicit Flood(int port) {
    thread_ = std::thread([this, port] {
      while (!stop_) {
        std::vector<std::unique_ptr<Stranger>> strangers;
        for (int i = 0; i < 150 && !stop_; ++i) {
          strangers.push_back(std::make_unique<Stranger>(port));
        }
      }
    });
  }
  ~Flood() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

/// Joins all ranks at once, each in a thread of its own, and waits until all are
/// complete.
void join_all_at_once(const StoreService& service, int ranks) {
  std::vector<std::thread> threads;
  std::atomic<int> complete = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        StoreClientOptions options = service.client_options(rank);
        options.timeout = seconds(60);
        StoreClient client(options);
        client.get(kCompleteKey, seconds(60));
        ++complete;
      } catch (const std::exception& error) {
        ADD_FAILURE() << "rank " << rank << ": " << error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(complete, ranks);
}

TEST(StoreAdmission, IsNotStoppedByAFloodOfConnections) {
  StoreService service(8);
  const Flood first(service.port()), second(service.port());
  ASSERT_TRUE(service.logs("refused ")) << "the flood has begun";

  join_all_at_once(service, 8);
}

TEST(StoreAdmission, TakesTwoHundredRanksAtOnce) {
  StoreService service(200);

  join_all_at_once(service, 200);

  EXPECT_THAT(service.log(), testing::Not(HasSubstr("refused")));
}

TEST(StoreAdmission, NeverDropsAPeerThatHasProvedTheToken) {
  StoreService service(1);
  const Stranger proven(service.port());
  proven.prove_token();
  std::vector<std::unique_ptr<Stranger>> strangers;
  for (std::size_t i = 0; i < 2 * kMostStrangers; ++i) {
    if (i % 100 == 0) strangers.clear();  // the test's own descriptors are few
    strangers.push_back(std::make_unique<Stranger>(service.port()));
  }

  EXPECT_FALSE(proven.is_closed_within(milliseconds(100)));
}

TEST(StoreAdmission, IsTriedAgainWhenTheConnectionIsClosed) {
  const Listener listener = listen_on("127.0.0.1", 0);
  std::thread closes_twice([&] {
    for (int i = 0; i < 2; ++i) {
      pollfd wait{listener.socket.get(), POLLIN, 0};
      ::poll(&wait, 1, 5000);
      const Descriptor socket(::accept(listener.socket.get(), nullptr, nullptr));
    }
  });
  StoreClientOptions options{.address = "127.0.0.1",
                             .port = listener.port,
                             .token = kTestToken,
                             .hello = {},
                             .settings = {},
                             .timeout = milliseconds(1500)};

  const std::string error = error_of<PeerError>([&] { StoreClient client(options); });

  EXPECT_THAT(error, HasSubstr("does not answer (3 attempts)"));
  EXPECT_THAT(error, testing::Not(HasSubstr("token")));
  closes_twice.join();
}

TEST(StoreAdmission, NamesAConnectionThatIsAlwaysClosed) {
  const Listener listener = listen_on("127.0.0.1", 0);
  std::atomic<bool> stop = false;
  std::thread closes([&] {
    while (!stop) {
      pollfd wait{listener.socket.get(), POLLIN, 0};
      ::poll(&wait, 1, 50);
      const Descriptor socket(::accept(listener.socket.get(), nullptr, nullptr));
    }
  });
  StoreClientOptions options{.address = "127.0.0.1",
                             .port = listener.port,
                             .token = kTestToken,
                             .hello = {},
                             .settings = {},
                             .timeout = milliseconds(500)};

  EXPECT_THAT(error_of<PeerError>([&] { StoreClient client(options); }),
              HasSubstr("closed the connection before admission"));
  stop = true;
  closes.join();
}

TEST(StoreProtocol, KeepsControlCharactersOutOfHostNames) {
  const Hello hello{.host = "node\x1b[2J1", .settings_hash = ""};

  EXPECT_EQ(decode_hello(encode(hello))->host, "node?[2J1");
}

TEST_F(StoreStranger, WhoHoldsAPlaceThatIsTakenIsRefused) {
  const std::string error = error_of<InputError>([&] { service_.join(0); });

  EXPECT_THAT(error, HasSubstr("taken by rank 0 on testhost"));
  EXPECT_TRUE(service_.logs("already taken"));
}

TEST_F(StoreStranger, WhoHoldsAPlaceThatThereIsNotIsRefused) {
  for (const int rank : {-1, 2, 1'000'000}) {
    EXPECT_THAT(error_of<InputError>([&] { service_.join(rank); }),
                HasSubstr("there is no rank"));
  }
}

TEST_F(StoreStranger, OfAnotherNumberOfRanksIsRefused) {
  StoreClientOptions options = service_.client_options(1);
  options.hello.ranks = 3;

  EXPECT_THAT(error_of<InputError>([&] { StoreClient client(options); }),
              HasSubstr("counts 3 ranks, this job has 2"));
}

TEST_F(StoreStranger, WithOtherSettingsHearsWhichTheyAre) {
  StoreClientOptions options = service_.client_options(1);
  options.settings = "train.epochs=7\ntrain.seed=1\n";

  try {
    StoreClient client(options);
    FAIL() << "other settings were taken";
  } catch (const InputError& error) {
    EXPECT_EQ(error.kind(), InputKind::settings);
    EXPECT_THAT(error.what(), HasSubstr("found:    train.epochs=7"));
    EXPECT_THAT(error.what(), HasSubstr("expected: train.epochs=6, as on node 0"));
  }
  EXPECT_TRUE(service_.logs("rank 1 has other settings"));
}

TEST_F(StoreStranger, ThatSaysNoHelloIsRefused) {
  const Stranger stranger(service_.port());
  stranger.prove_token();
  stranger.send({.kind = MessageKind::get, .key = "secret"});

  EXPECT_TRUE(stranger.is_closed_within(milliseconds(400)));
  EXPECT_TRUE(service_.logs("no hello"));
}

TEST_F(StoreStranger, WithALengthThatNoMessageHasIsDropped) {
  const Stranger stranger(service_.port());
  stranger.prove_token();
  stranger.send(Bytes(4, std::byte{0xFF}));

  EXPECT_TRUE(stranger.is_closed_within(milliseconds(400)));
}

TEST_F(StoreStranger, WhoseHelloIsTornIsDropped) {
  const Bytes whole = encode(hello());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(decode_hello(std::span(whole).first(length))) << length;
  }
  const Stranger stranger(service_.port());
  stranger.prove_token();
  stranger.send({.kind = MessageKind::hello, .value = Bytes(7)});

  EXPECT_TRUE(stranger.is_closed_within(milliseconds(400)));
}

TEST(StoreClient, RefusesAServiceThatDoesNotKnowTheToken) {
  const Listener listener = listen_on("127.0.0.1", 0);
  std::thread impostor([&] {
    pollfd wait{listener.socket.get(), POLLIN, 0};
    ::poll(&wait, 1, 5000);
    const Descriptor socket(::accept(listener.socket.get(), nullptr, nullptr));
    const Bytes hello = challenge(fresh_nonce());
    ::send(socket.get(), hello.data(), hello.size(), MSG_NOSIGNAL);
    Bytes proof(kAnswerBytes);
    ::recv(socket.get(), proof.data(), proof.size(), MSG_WAITALL);
    Bytes yes(kWelcomeBytes);
    yes[0] = std::byte{1};
    ::send(socket.get(), yes.data(), yes.size(), MSG_NOSIGNAL);
  });
  StoreClientOptions options{.address = "127.0.0.1",
                             .port = listener.port,
                             .token = kTestToken,
                             .hello = {},
                             .settings = {},
                             .timeout = seconds(5)};

  EXPECT_THAT(error_of<InputError>([&] { StoreClient client(options); }),
              HasSubstr("another token"));
  impostor.join();
}

TEST(StoreClient, SaysWhereNobodyAnswers) {
  int port = 0;
  { port = listen_on("127.0.0.1", 0).port; }
  StoreClientOptions options{.address = "127.0.0.1",
                             .port = port,
                             .token = kTestToken,
                             .hello = {},
                             .settings = {},
                             .timeout = milliseconds(300)};

  EXPECT_THAT(error_of<PeerError>([&] { StoreClient client(options); }),
              HasSubstr("127.0.0.1:" + std::to_string(port)));
}

}  // namespace
}  // namespace convoy
