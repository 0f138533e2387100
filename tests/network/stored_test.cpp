// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/storage/stored.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "convoy/models/models.h"
#include "convoy/network/add_to.h"
#include "convoy/network/plan/network_plan.h"

namespace convoy {
namespace {

using testing::ElementsAre;

TEST(Stored, OfFp32IsReadAndWrittenInPlace) {
  std::vector<float> numbers = {1, 2, 3};
  const Stored stored(numbers.data());
  float buffer[2] = {9, 9};

  EXPECT_EQ(stored.read(1, 2, buffer), numbers.data() + 1);
  EXPECT_EQ(stored.target(2, buffer), numbers.data() + 2);
  stored.store(1, 2, buffer);
  EXPECT_THAT(numbers, ElementsAre(1, 2, 3));
}

TEST(Stored, OfSixteenBitsIsWidenedIntoTheBufferAndRoundedFromIt) {
  for (const Dtype dtype : {Dtype::fp16, Dtype::bf16}) {
    std::vector<std::uint16_t> halves(3);
    const Stored stored(halves.data(), dtype);
    stored.copy_from(std::vector{1.0f, -2.0f, 1 / 3.0f}.data(), 3, 0);

    float buffer[2] = {};
    EXPECT_EQ(stored.read(1, 2, buffer), buffer);
    EXPECT_THAT(buffer, ElementsAre(-2, round_to(dtype, 1 / 3.0f)));
    EXPECT_EQ(stored.target(0, buffer), buffer);
    stored.store(0, 1, buffer);
    EXPECT_EQ(stored.at(0), -2);
    stored.fill_zeros(1, 2);
    EXPECT_EQ(stored.at(2), 0);
  }
}

TEST(Stored, IsRoundedOnceWhenNumbersAreAdded) {
  ThreadTeam team(2);
  const std::size_t count = 5000;
  std::vector<std::uint16_t> from(count), to(count);
  // 1 + 2^-8 is halfway between two numbers of bf16.
  for (std::size_t i = 0; i < count; ++i) {
    from[i] = to_bf16(1);
    to[i] = to_bf16(i % 2 == 0 ? 0x1p-8f : 0x1.8p-8f);
  }
  add_to(team, Stored(from.data(), Dtype::bf16), Stored(to.data(), Dtype::bf16), count);

  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(from_bf16(to[i]), i % 2 == 0 ? 1.0f : 1 + 0x1p-7f) << i;
  }
}

std::size_t planned_bytes(const char* name, int image, std::size_t batch, Dtype dtype) {
  const Model model = make_model(name, {3, image, image}, 10);
  const Layout layout = build_layout(model);
  return plan_network(model, layout, {.most_samples = batch, .activations = dtype},
                      /*threads=*/2)
      .arena.bytes();
}

TEST(Stored, TakesLittleMoreThanHalfOfTheMemoryOfFp32) {
  struct {
    const char* model;
    int image;
    std::size_t batch;
  } const cases[] = {{"vgg11", 32, 256}, {"vit_b_32", 224, 64}, {"resnet18", 224, 64}};
  for (const auto& [model, image, batch] : cases) {
    const std::size_t wide = planned_bytes(model, image, batch, Dtype::fp32);
    for (const Dtype dtype : {Dtype::fp16, Dtype::bf16}) {
      EXPECT_LE(planned_bytes(model, image, batch, dtype), wide * 55 / 100) << model;
    }
  }
}

}  // namespace
}  // namespace convoy
