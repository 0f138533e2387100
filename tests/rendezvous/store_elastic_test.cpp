// SPDX-License-Identifier: Apache-2.0
//
// The rendezvous with ranks that may join late, leave, be lost and join again.

#include "tests/rendezvous/store_service.h"

namespace convoy {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

/// Rank 0 has to be there, 1 and 2 may be.
class ElasticStore : public testing::Test {
 protected:
  StoreService service_{
      3,
      {.roster = {.settings = "", .elastic_from = 1}, .say_missing = milliseconds(50)}};
};

TEST_F(ElasticStore, WaitsForTheOthersAlone) {
  const auto worker = service_.join(1);
  error_of<PeerError>([&] { worker->get(kCompleteKey, milliseconds(200)); });
  EXPECT_TRUE(service_.logs("0 of 1 ranks, missing: rank 0, waited"));

  const auto server = service_.join(0);

  EXPECT_NO_THROW(worker->get(kCompleteKey, seconds(5)));
  EXPECT_NO_THROW(service_.join(2)->get(kCompleteKey, seconds(5)));
}

TEST_F(ElasticStore, PublishesNoLossAndLogsIt) {
  StoreClientOptions options = service_.client_options(0);
  Events events;
  options.on_event = events.listener();
  StoreClient server(options);
  server.watch(kLostPrefix);

  join_to_crash(service_, 2).reset();
  EXPECT_TRUE(
      service_.logs("rank 2 on testhost (pid 4711) is gone: its connection closed"));
  server.set(entry_of(SessionLost{.number = 7, .text = "a marker"}));

  EXPECT_EQ(events.wait_for<SessionLost>().text, "a marker") << "and nothing before it";
}

TEST_F(ElasticStore, GivesThePlaceOfALostRankToAnother) {
  const auto server = service_.join(0);
  for (int i = 0; i < 20; ++i) {
    join_to_crash(service_, 1).reset();
    EXPECT_NO_THROW(service_.join(1)->leave()) << i;
  }
}

TEST_F(ElasticStore, RefusesASecondHolderWhileTheFirstLives) {
  const auto server = service_.join(0), first = service_.join(1);

  EXPECT_THAT(error_of<InputError>([&] { service_.join(1); }),
              HasSubstr("already taken by rank 1 on testhost (pid 4711)"));
  first->set("still", "here");
  EXPECT_EQ(text_of(server->get("still", seconds(5))), "here");
}

TEST_F(ElasticStore, DoesNotTakeBackARankThatHasToStay) {
  const auto worker = service_.join(1);
  service_.join(0)->leave();

  EXPECT_THAT(error_of<InputError>([&] { service_.join(0); }),
              HasSubstr("already taken by rank 0"));
}

TEST_F(ElasticStore, PublishesTheLossOfARankThatHasToStay) {
  Events events;
  StoreClientOptions options = service_.client_options(1);
  options.on_event = events.listener();
  StoreClient worker(options);
  worker.watch(kLostPrefix);

  join_to_crash(service_, 0).reset();

  EXPECT_EQ(events.wait_for<SessionLost>().number, 0);
}

TEST(Roster, KnowsOnWhichHostAServerIsMissing) {
  StoreRoster roster({.ranks = 6, .nodes = 2, .settings = "", .elastic_from = 2});
  const auto come = [&](PeerKind kind, int number, const char* host) {
    return roster.admit(
        {.kind = kind, .number = number, .ranks = 6, .pid = 1, .host = host});
  };
  EXPECT_FALSE(come(PeerKind::launcher, 0, "n0"));
  EXPECT_FALSE(come(PeerKind::launcher, 1, "n1"));
  EXPECT_FALSE(come(PeerKind::rank, 5, "n1"));
  EXPECT_FALSE(come(PeerKind::rank, 0, "n0"));

  EXPECT_FALSE(roster.is_complete());
  EXPECT_EQ(roster.missing(), "1 of 2 ranks, missing: rank 1 (on n0)");
  EXPECT_FALSE(come(PeerKind::rank, 1, "n0"));
  EXPECT_TRUE(roster.is_complete());
}

}  // namespace
}  // namespace convoy
