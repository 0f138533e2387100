// SPDX-License-Identifier: Apache-2.0
//
// The rendezvous with ranks that may come late, leave, be lost and come back.

#include "tests/rendezvous/store_service.h"

namespace convoy {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

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

TEST_F(ElasticStore, TellsNobodyOfALossAndLogsIt) {
  StoreClientOptions options = service_.client_options(0);
  std::mutex mutex;
  std::vector<std::string> heard;
  options.on_notice = [&](const std::string& key, const Bytes&) {
    const std::lock_guard lock(mutex);
    heard.push_back(key);
  };
  StoreClient server(options);
  server.watch(kLostPrefix);
  const auto worker = service_.join(2);

  worker->abandon();
  EXPECT_TRUE(
      service_.logs("rank 2 on testhost (pid 4711) is gone: its connection closed"));
  server.set("lost/marker", "the end");
  server.get("lost/marker", seconds(5));

  const std::lock_guard lock(mutex);
  EXPECT_THAT(heard, Not(testing::Contains("lost/rank 2")));
}

TEST_F(ElasticStore, GivesThePlaceOfWhoIsGoneToAnother) {
  const auto server = service_.join(0);
  for (int i = 0; i < 20; ++i) {
    const auto lost = service_.join(1);
    lost->abandon();
    EXPECT_NO_THROW(service_.join(1)->leave()) << i;
  }
}

TEST_F(ElasticStore, RefusesASecondHolderWhileTheFirstLives) {
  const auto server = service_.join(0), first = service_.join(1);

  EXPECT_THAT(error_of<InputError>([&] { service_.join(1); }),
              HasSubstr("the place is taken by rank 1 on testhost (pid 4711)"));
  first->set("still", "here");
  EXPECT_EQ(text_of(server->get("still", seconds(5))), "here");
}

TEST_F(ElasticStore, DoesNotTakeBackWhoHasToStay) {
  const auto worker = service_.join(1);
  service_.join(0)->leave();

  EXPECT_THAT(error_of<InputError>([&] { service_.join(0); }),
              HasSubstr("the place is taken by rank 0"));
}

TEST_F(ElasticStore, TellsAllOfTheLossOfWhoHasToStay) {
  std::atomic<bool> heard = false;
  StoreClientOptions options = service_.client_options(1);
  options.on_notice = [&](const std::string& key, const Bytes&) {
    if (key == "lost/rank 0") heard = true;
  };
  StoreClient worker(options);
  worker.watch(kLostPrefix);

  service_.join(0)->abandon();

  EXPECT_TRUE(eventually([&] { return heard.load(); }));
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
