// SPDX-License-Identifier: Apache-2.0
//
// How workers find the parameter servers.

#include "convoy/ps_transport/server_addresses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/rendezvous/memory_store.h"

namespace convoy {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

PeerError lookup_error(KeyValueStore& store, int servers) {
  try {
    find_servers(store, servers, milliseconds(50));
  } catch (const PeerError& error) {
    return error;
  }
  ADD_FAILURE() << "they were found";
  return {kAnyRank, ""};
}

TEST(ServerAddresses, AreFoundByNumber) {
  MemoryStore store;
  publish_server(store, 1, {.host = "fd00::7", .port = 65535});
  std::thread later([&] {
    std::this_thread::sleep_for(milliseconds(50));
    publish_server(store, 0, {.host = "10.0.0.2", .port = 4711});
  });

  const std::vector<ServerAddress> found = find_servers(store, 2, seconds(10));
  later.join();

  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].host, "10.0.0.2");
  EXPECT_EQ(found[0].port, 4711);
  EXPECT_EQ(found[1].host, "fd00::7");
  EXPECT_EQ(found[1].port, 65535);
}

TEST(ServerAddresses, ThatDoNotComeAreNamed) {
  MemoryStore store;
  publish_server(store, 0, {.host = "10.0.0.2", .port = 4711});

  const PeerError error = lookup_error(store, 2);

  EXPECT_EQ(error.rank(), 1);
  EXPECT_THAT(error.what(),
              HasSubstr("parameter server 1 has not published its address"));
}

TEST(ServerAddresses, ThatAreNoneAreRefused) {
  for (const std::string text :
       {"", "nowhere", ":1", "host:", "host:0", "host:65536", "host:12x", "host:-5"}) {
    MemoryStore store;
    store.set("ps/server/0", std::as_bytes(std::span(text)));
    EXPECT_THAT(lookup_error(store, 1).what(), HasSubstr("which is not an address"))
        << text;
  }
}

}  // namespace
}  // namespace convoy
