// SPDX-License-Identifier: Apache-2.0
//
// The rendezvous among the ranks of its job.

#include "tests/rendezvous/store_service.h"

namespace convoy {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

/// Rank 0, which watches for losses.
std::unique_ptr<StoreClient> join_and_watch(const StoreService& service, Events& events) {
  StoreClientOptions options = service.client_options(0);
  options.on_event = events.listener();
  auto client = std::make_unique<StoreClient>(options);
  client->watch(kLostPrefix);
  return client;
}

std::string get_text(StoreClient& store, const std::string& key) {
  return text_of(store.get(key, seconds(10)));
}

TEST(Store, KeepsWhatIsSet) {
  StoreService service(2);
  const auto first = service.join(0), second = service.join(1);

  first->set("address/0", "10.0.0.1");
  first->set("nothing", "");

  EXPECT_EQ(get_text(*second, "address/0"), "10.0.0.1");
  EXPECT_EQ(get_text(*second, "nothing"), "");
}

TEST(Store, WaitsForAKeyThatIsSetLater) {
  StoreService service(2);
  const auto first = service.join(0), second = service.join(1);

  std::thread later([&] {
    std::this_thread::sleep_for(milliseconds(100));
    first->set("late", "here");
  });

  EXPECT_EQ(get_text(*second, "late"), "here");
  later.join();
}

TEST(Store, GivesUpOnAKeyThatNobodySets) {
  StoreService service(1);
  const auto client = service.join(0);

  const std::string error =
      error_of<PeerError>([&] { client->get("never", milliseconds(100)); });

  EXPECT_THAT(error, HasSubstr("never"));
  client->set("still", "useful");
  EXPECT_EQ(get_text(*client, "still"), "useful");
}

TEST(Store, KeepsTheFirstClaim) {
  StoreService service(2);
  const auto first = service.join(0), second = service.join(1);

  EXPECT_EQ(text_of(first->claim("key", "first")), "first");
  EXPECT_EQ(text_of(second->claim("key", "second")), "first");
}

TEST(Store, CarriesAMegabyte) {
  StoreService service(1);
  const auto client = service.join(0);
  const std::string large(1'000'000, 'x');

  client->set("large", large);

  EXPECT_EQ(get_text(*client, "large"), large);
}

TEST(Store, SendsWatchersEventsBeforeAndAfter) {
  StoreService service(1);
  Events events;
  StoreClientOptions options = service.client_options(0);
  options.on_event = events.listener();
  StoreClient client(options);

  client.set(entry_of(RunStarted{"runs/a"}));
  client.set("other", "2");
  client.watch(kJobPrefix);
  client.set(entry_of(NodeDone{3, ExitCode::stopped}));

  EXPECT_EQ(events.wait_for<RunStarted>().folder, "runs/a");
  const NodeDone done = events.wait_for<NodeDone>();
  EXPECT_EQ(done.node, 3);
  EXPECT_EQ(done.code, ExitCode::stopped);
}

TEST(Store, KnowsWhenAllAreThere) {
  StoreService service(2);
  const auto first = service.join(0);
  error_of<PeerError>([&] { first->get(kCompleteKey, milliseconds(200)); });

  const auto second = service.join(1);

  EXPECT_NO_THROW(first->get(kCompleteKey, seconds(5)));
}

TEST(Store, SaysWhoIsMissing) {
  StoreService service(4, {.say_missing = milliseconds(100)});
  const auto first = service.join(0), third = service.join(2), fourth = service.join(3);

  EXPECT_TRUE(service.logs("3 of 4 ranks, missing: rank 1, waited 0 s of 300"))
      << service.log();
}

TEST(Store, FailsTheJobWhenRanksDoNotJoinInTime) {
  StoreService service(2, {.join_timeout = milliseconds(300)});
  const auto client = service.join(0);

  const std::string error =
      error_of<PeerError>([&] { client->get(kCompleteKey, seconds(20)); });

  EXPECT_THAT(error,
              HasSubstr("timed out waiting for ranks: 1 of 2 ranks, missing: rank 1"));
  EXPECT_EQ(client->wait_for_outcome(seconds(5))->code, ExitCode::peer_unreachable);
}

TEST(Store, NamesASessionThatEndsWithoutALeave) {
  StoreService service(2);
  Events events;
  const auto first = join_and_watch(service, events);

  join_to_crash(service, 1).reset();

  const SessionLost loss = events.wait_for<SessionLost>();
  EXPECT_EQ(loss.number, 1);
  EXPECT_FALSE(loss.silent);
  EXPECT_EQ(loss.text, "rank 1 on testhost (pid 4711) is gone: its connection closed");
}

TEST(Store, TakesALeaveForNoLoss) {
  StoreService service(2);
  Events events;
  const auto first = join_and_watch(service, events);

  service.join(1)->leave();
  first->set(entry_of(SessionLost{.number = 7, .text = "a marker"}));

  EXPECT_EQ(events.wait_for<SessionLost>().text, "a marker") << "and nothing before it";
}

TEST(Store, NamesAMemberThatIsSilent) {
  StoreService service(2, {.silence = milliseconds(1500)});
  Events events;
  const auto first = join_and_watch(service, events);
  const Stranger mute(service.port());
  mute.prove_token();
  mute.send({.kind = MessageKind::hello,
             .value = encode(Hello{.kind = PeerKind::rank,
                                   .number = 1,
                                   .ranks = 2,
                                   .pid = 4712,
                                   .host = "testhost",
                                   .settings_hash = settings_hash(kTestSettings)})});
  mute.send({.kind = MessageKind::beat, .number = 17});

  const SessionLost loss = events.wait_for<SessionLost>();

  EXPECT_TRUE(loss.silent);
  EXPECT_THAT(loss.text, HasSubstr("rank 1 on testhost (pid 4712) has been silent for"));
  EXPECT_THAT(loss.text, HasSubstr("(at step 17)"));
}

TEST(Store, ThatGoesAwayEndsEveryWait) {
  StoreService service(1);
  Events events;
  StoreClientOptions options = service.client_options(0);
  options.on_event = events.listener();
  StoreClient client(options);

  std::thread later([&] {
    std::this_thread::sleep_for(milliseconds(100));
    service.stop();
  });
  const std::string error =
      error_of<PeerError>([&] { client.get("never", seconds(60)); });

  later.join();
  EXPECT_THAT(error, HasSubstr("the rendezvous is gone"));
  EXPECT_THAT(events.wait_for<ServiceLost>().why, HasSubstr("the rendezvous is gone"));
}

TEST(Store, EndsEveryWaitWhenTheJobHasFailed) {
  StoreService service(2);
  const auto first = service.join(0), second = service.join(1);

  first->propose(entry_of(JobFailed{{ExitCode::rank_failed, "rank 7 is dead"}}));
  const std::string error =
      error_of<PeerError>([&] { second->get("never", seconds(60)); });

  EXPECT_THAT(error, HasSubstr("rank 7 is dead"));
  EXPECT_EQ(second->wait_for_outcome(seconds(5))->text, "rank 7 is dead");
}

TEST(Store, ListensOnTheAddressItWasGiven) {
  const Listener listener = listen_on("127.0.0.1", 0);

  EXPECT_EQ(listener.address, "127.0.0.1");
  EXPECT_GT(listener.port, 0);
  const std::string error =
      error_of<InputError>([&] { listen_on("127.0.0.1", listener.port); });
  EXPECT_THAT(error, HasSubstr(std::to_string(listener.port)));
  EXPECT_THAT(error_of<InputError>([&] { listen_on("192.0.2.1", 0); }),
              HasSubstr("cluster.master_addr"));
}

TEST(Sockets, KnowTheAddressThatLeadsToAnother) {
  EXPECT_EQ(local_address_towards("127.0.0.1"), "127.0.0.1");
  EXPECT_THAT(error_of<PeerError>([] { local_address_towards("no.such.host.invalid"); }),
              HasSubstr("no.such.host.invalid"));
}

TEST(Sockets, KnowWhichAddressesAreLoopback) {
  for (const char* here : {"localhost", "127.0.0.1", "127.8.9.10", "::1"}) {
    EXPECT_TRUE(is_loopback(here)) << here;
  }
  for (const char* there :
       {"127.evil.example", "127.0.0.1.evil.example", "127.", "10.0.0.1", "::2", ""}) {
    EXPECT_FALSE(is_loopback(there)) << there;
  }
}

}  // namespace
}  // namespace convoy
