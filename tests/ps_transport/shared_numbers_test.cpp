// SPDX-License-Identifier: Apache-2.0
//
// Gradients and values in memory that a worker and its server share.

#include "convoy/ps_transport/shared_numbers.h"

#include "tests/ps_transport/ports.h"

namespace convoy {
namespace {

using Kind = Arrival::Kind;
using testing::HasSubstr;

constexpr HelloBody kSizes{.gradients = 5,
                           .statistics = 3,
                           .partials = 2,
                           .microbatches = 1,
                           .gradient_type = Dtype::fp16,
                           .pulled_bytes = 11};

TEST(SharedNumbers, AreSeenByBothSides) {
  const SharedNumbers servers(kSizes);
  const auto workers = find_shared_numbers(kSizes, servers.welcome());
  ASSERT_TRUE(workers);
  ASSERT_EQ(servers.pushed().size(), 2u * (5 * 2 + 3 * 4));
  ASSERT_EQ(servers.values().size(), 11u);

  std::ranges::fill(workers->pushed(), std::byte{7});
  std::ranges::fill(servers.values(), std::byte{9});

  EXPECT_THAT(servers.pushed(), testing::Each(std::byte{7}));
  EXPECT_THAT(workers->values(), testing::Each(std::byte{9}));
  EXPECT_THAT(workers->pushed(), testing::Each(std::byte{7}));
}

TEST(SharedNumbers, AreNotFoundWhereTheyAreNot) {
  const SharedNumbers numbers(kSizes);
  const auto changed = [&](auto change) {
    WelcomeBody welcome = numbers.welcome();
    change(welcome);
    return find_shared_numbers(kSizes, welcome);
  };
  HelloBody larger = kSizes;
  larger.gradients = 500;

  EXPECT_TRUE(changed([](WelcomeBody&) {}));
  EXPECT_FALSE(changed([](WelcomeBody& welcome) { ++welcome.key; }));
  EXPECT_FALSE(changed([](WelcomeBody& welcome) { welcome.key = 0; }));
  EXPECT_FALSE(changed([](WelcomeBody& welcome) { welcome.process = 1u << 30; }));
  EXPECT_FALSE(changed([](WelcomeBody& welcome) { welcome.descriptor = 0; }));
  EXPECT_FALSE(find_shared_numbers(larger, numbers.welcome()));
}

/// A worker that speaks for itself, and its server.
class SharingSession : public testing::Test {
 protected:
  std::unique_ptr<RawWorker> join() {
    auto worker = std::make_unique<RawWorker>(server_.address(), hello());
    welcome_ = worker->expect_welcome();
    server_.expect(Kind::joined);
    server_.assign(0, 0);
    EXPECT_EQ(worker->receive_head().kind, FrameKind::assignment);
    worker->receive(assignment_length(kGradients * sizeof(float)));
    return worker;
  }

  /// Of a worker that could share memory.
  static HelloBody hello() {
    HelloBody hello = RawWorker::hello();
    hello.machine = machine_number();
    return hello;
  }

  static Bytes push_without_numbers() {
    const Push push = TestWorker::push_of_batch(0);
    const PushHead head = head_of(push);
    Bytes body;
    for (const auto bytes :
         {bytes_in(head), std::as_bytes(std::span(push.microbatches))}) {
      body.insert(body.end(), bytes.begin(), bytes.end());
    }
    return body;
  }

  TestServer server_;
  WelcomeBody welcome_;
};

TEST_F(SharingSession, AnswersAsItIsAsked) {
  const auto worker = join();
  const auto numbers = find_shared_numbers(hello(), welcome_);
  ASSERT_TRUE(numbers);
  const std::vector<float> gradients = filled(kPartials * kGradients, 3);
  std::ranges::copy(std::as_bytes(std::span(gradients)), numbers->pushed().begin());

  worker->send(FrameKind::shared_push, push_without_numbers());
  EXPECT_EQ(copy_of(server_.expect(Kind::push).gradients), gradients);
  server_.assign(0, 1, 8);

  EXPECT_EQ(worker->receive_head().kind, FrameKind::shared_assignment);
  EXPECT_EQ(worker->receive_body<AssignmentHead>().version, 8U);
  const auto* values = reinterpret_cast<const float*>(numbers->values().data());
  EXPECT_EQ(copy_of({values, kGradients}), filled(kGradients, 8));
}

TEST_F(SharingSession, SendsValuesToWhoSendsGradients) {
  const auto worker = join();
  Bytes body = push_without_numbers();
  body.resize(push_length(hello()));

  worker->send(FrameKind::push, body);
  server_.expect(Kind::push);
  server_.assign(0, 1, 8);

  EXPECT_EQ(worker->receive_head().kind, FrameKind::assignment);
  EXPECT_EQ(worker->receive_body<AssignmentHead>().version, 8U);
  EXPECT_TRUE(eventually([&] { return !find_shared_numbers(hello(), welcome_); }))
      << "memory that is not used is given back";
}

TEST_F(SharingSession, OffersNothingToWhoCannotSeeItsProcesses) {
  HelloBody of_a_container = hello();
  ++of_a_container.machine;

  const RawWorker worker(server_.address(), of_a_container);

  EXPECT_EQ(worker.expect_welcome().key, 0U);
  server_.expect(Kind::joined);
}

TEST_F(SharingSession, HasMemoryOfItsOwn) {
  const auto first = join();
  const WelcomeBody before = welcome_;
  first->send(FrameKind::goodbye, Bytes{});
  server_.expect(Kind::lost);

  const auto second = join();

  EXPECT_NE(welcome_.key, before.key);
  // The session's end is heard before its memory is given back.
  EXPECT_TRUE(eventually([&] { return !find_shared_numbers(hello(), before); }));
}

TEST_F(SharingSession, RefusesAPushOfAnotherLength) {
  const auto worker = join();
  Bytes body = push_without_numbers();
  body.push_back(std::byte{0});

  worker->send(FrameKind::shared_push, body);

  EXPECT_THAT(worker->rejection().found, HasSubstr("a push of"));
  server_.expect(Kind::lost);
}

TEST(SharingSessionElsewhere, OffersNothingAndTakesNothing) {
  TestServer server(1, kOtherHost);
  HelloBody hello = RawWorker::hello();
  hello.machine = machine_number();
  const RawWorker worker(server.address(), hello);
  EXPECT_EQ(worker.expect_welcome().key, 0U);
  server.expect(Kind::joined);
  server.assign(0, 0);

  worker.send(FrameKind::shared_push, Bytes{});

  EXPECT_THAT(worker.rejection().found, HasSubstr("a message that no worker sends"));
  server.expect(Kind::lost);
}

}  // namespace
}  // namespace convoy
