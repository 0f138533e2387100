// SPDX-License-Identifier: Apache-2.0

#include "convoy/cost_model/event_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "convoy/cost_model/link.h"

namespace convoy {
namespace {

using testing::ElementsAre;

TEST(EventQueue, GivesEventsByTimeAndThoseOfOneTimeInTheOrderTheyWereScheduled) {
  EventQueue<std::string> queue;
  queue.schedule(2, "late");
  queue.schedule(1, "first");
  queue.schedule(1, "second");
  queue.schedule(1, "third");

  std::vector<std::string> came;
  while (!queue.empty()) came.push_back(queue.next());

  EXPECT_THAT(came, ElementsAre("first", "second", "third", "late"));
  EXPECT_EQ(queue.now(), 2);
}

TEST(EventQueue, IsAtTheTimeOfTheEventThatCameLast) {
  EventQueue<int> queue;
  queue.schedule(0.5, 1);
  queue.schedule(0.25, 2);

  EXPECT_EQ(queue.next(), 2);
  EXPECT_EQ(queue.now(), 0.25);
  queue.schedule(queue.now(), 3);
  EXPECT_EQ(queue.next(), 3);
  EXPECT_EQ(queue.size(), 1U);
}

TEST(EventQueueDeathTest, RefusesThePast) {
  EventQueue<int> queue;
  queue.schedule(1, 1);
  queue.next();
  EXPECT_DEATH(queue.schedule(0.5, 2), "is not in the past");
}

TEST(Link, TakesLatencyAndBytesOverBandwidth) {
  Link link({.latency = 0.25, .bandwidth = 100});

  EXPECT_EQ(link.send(1, 50), 1 + 0.5 + 0.25);
  EXPECT_EQ(link.bytes(), 50U);
}

TEST(Link, CarriesOneMessageAfterTheOther) {
  Link link({.latency = 0.25, .bandwidth = 100});
  link.send(0, 100);

  EXPECT_EQ(link.send(0.5, 100), 2 + 0.25) << "waits for the first to have left";
  EXPECT_EQ(link.send(10, 100), 11 + 0.25) << "waits for nobody";
}

TEST(Link, WithoutALimitHasLatencyAlone) {
  Link link({.latency = 0.25, .bandwidth = 0});
  link.send(1, 1'000'000'000);
  EXPECT_EQ(link.send(1, 1'000'000'000), 1.25);
}

}  // namespace
}  // namespace convoy
