// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/winograd_plan.h"

#include <gtest/gtest.h>

#include <set>

namespace convoy {
namespace {

Convolution layer_of(int channels, int padding = 1) {
  return {.name = "conv", .channels = channels, .kernel = 3, .padding = padding};
}

std::optional<WinogradForm> form_with_f4(Shape src, int channels, int padding = 1) {
  return choose_form(WinogradMode::f4, layer_of(channels, padding), src);
}

TEST(WinogradForms, AreChosenByTheWorkTheyTake) {
  EXPECT_EQ(form_with_f4({64, 32, 32}, 64), WinogradForm::f4);
  EXPECT_EQ(form_with_f4({64, 3, 3}, 64), WinogradForm::f4);
  EXPECT_EQ(form_with_f4({64, 6, 6}, 64), WinogradForm::f2) << "as much work, less error";
  EXPECT_EQ(form_with_f4({64, 4, 4}, 64, 0), WinogradForm::f2) << "2 x 2 outputs";
  EXPECT_EQ(form_with_f4({64, 2, 2}, 64), WinogradForm::z2);
  EXPECT_EQ(form_with_f4({64, 1, 1}, 64), WinogradForm::z1);
  EXPECT_EQ(form_with_f4({64, 3, 3}, 64, 0), std::nullopt) << "one output, nine taps";
}

TEST(WinogradForms, AreNotForFewChannels) {
  EXPECT_EQ(form_with_f4({3, 32, 32}, 64), std::nullopt);
  EXPECT_EQ(form_with_f4({8, 32, 32}, 8), std::nullopt);
  EXPECT_EQ(form_with_f4({16, 32, 32}, 16), WinogradForm::f4);
}

TEST(WinogradForms, FollowTheMode) {
  const Shape src = {64, 32, 32};
  EXPECT_EQ(choose_form(WinogradMode::f2, layer_of(64), src), WinogradForm::f2);
  EXPECT_EQ(choose_form(WinogradMode::f2, layer_of(64), {64, 2, 2}), WinogradForm::z2);
  EXPECT_EQ(choose_form(WinogradMode::off, layer_of(64), src), std::nullopt);
}

TEST(WinogradForms, AreForThreeByThreeTapsAlone) {
  Convolution other = layer_of(64);
  other.kernel = 5;
  EXPECT_EQ(choose_form(WinogradMode::f4, other, {64, 32, 32}), std::nullopt);
  other = layer_of(64);
  other.stride = 3;
  EXPECT_EQ(choose_form(WinogradMode::f4, other, {64, 32, 32}), std::nullopt);
  EXPECT_EQ(form_with_f4({64, 32, 32}, 64, /*padding=*/3), std::nullopt);
}

TEST(WinogradForms, HaveTheirOwnForAStepOfTwo) {
  Convolution layer = layer_of(64);
  layer.stride = 2;
  EXPECT_EQ(choose_form(WinogradMode::f2, layer, {64, 32, 32}), WinogradForm::s2);
  EXPECT_EQ(choose_form(WinogradMode::f4, layer, {64, 14, 14}), WinogradForm::s4);
  EXPECT_EQ(choose_form(WinogradMode::f4, layer, {64, 4, 4}), WinogradForm::s2);
  EXPECT_EQ(choose_form(WinogradMode::f4, layer, {64, 2, 2}), WinogradForm::s1);
  EXPECT_EQ(choose_form(WinogradMode::f4, layer, {64, 1, 1}), std::nullopt);
}

TEST(WinogradForms, HaveTheirOwnForASingleTap) {
  Convolution layer = {.name = "conv", .channels = 64, .kernel = 1};
  EXPECT_EQ(choose_form(WinogradMode::f4, layer, {64, 8, 8}), WinogradForm::p1);
  layer.stride = 2;
  EXPECT_EQ(choose_form(WinogradMode::f2, layer, {64, 7, 8}), WinogradForm::p2);
  layer.padding = 1;
  EXPECT_EQ(choose_form(WinogradMode::f4, layer, {64, 8, 8}), std::nullopt);
}

class WinogradPlanOf : public testing::TestWithParam<Shape> {};

TEST_P(WinogradPlanOf, ChunksHaveEveryTileOnce) {
  const Shape src = GetParam();
  const WinogradPlan plan(WinogradForm::f4, src, src, 1);
  for (const std::size_t packs : {1u, 3u, 16u}) {
    std::set<std::tuple<std::size_t, int, int>> seen;
    for (std::size_t i = 0; i < plan.chunks(packs); ++i) {
      const Chunk chunk = plan.chunk(i, packs);
      EXPECT_LE(plan.columns(chunk), plan.most_columns(packs));
      EXPECT_LE(plan.last_src_row(chunk) - plan.first_src_row(chunk),
                plan.most_src_rows());
      for (std::size_t c = 0; c < plan.columns(chunk); ++c) {
        const TilePlace place = plan.place(chunk, c);
        EXPECT_LT(place.pack, packs);
        EXPECT_TRUE(seen.insert({place.pack, place.row, place.column}).second);
      }
    }
    EXPECT_EQ(seen.size(), packs * plan.tiles());
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, WinogradPlanOf,
                         testing::Values(Shape{64, 4, 4}, Shape{512, 8, 8},
                                         Shape{256, 16, 13}, Shape{64, 32, 32},
                                         Shape{16, 224, 100}));

}  // namespace
}  // namespace convoy
