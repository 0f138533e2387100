// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/pixels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace convoy {
namespace {

using Numbers = std::vector<float>;

/// Bytes 1, 2, 3 ... so that black is none of them.
std::vector<std::uint8_t> numbered_pixels(Shape shape) {
  std::vector<std::uint8_t> image(shape.size());
  std::iota(image.begin(), image.end(), std::uint8_t{1});
  return image;
}

/// What is written of the numbered image, as bytes again.
Numbers seen(Shape shape, const View& view) {
  const PixelWriter tables(shape, {.moments = {{.mean = 0, .deviation = 1.0 / 255}}});
  Numbers numbers(shape.size(), -1);
  tables.write(numbered_pixels(shape), view, numbers.data());
  return numbers;
}

TEST(Pixels, AreAllThereWithoutAView) {
  EXPECT_THAT(seen({2, 1, 3}, {}), testing::ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(Pixels, AreNormalisedByChannel) {
  const Shape shape = {3, 1, 1};
  const PixelWriter tables(shape, {.moments = {{0.5, 0.25}, {0, 1}, {1, 0.5}}});
  const std::vector<std::uint8_t> image = {255, 51, 0};
  Numbers numbers(3);

  tables.write(image, {}, numbers.data());

  EXPECT_THAT(numbers, testing::ElementsAre(2, 0.2f, -2));
}

TEST(Pixels, MoveAndLeaveBlackBehind) {
  const Shape shape = {1, 3, 3};
  EXPECT_THAT(seen(shape, {.down = 1}), testing::ElementsAre(4, 5, 6, 7, 8, 9, 0, 0, 0));
  EXPECT_THAT(seen(shape, {.down = -1}), testing::ElementsAre(0, 0, 0, 1, 2, 3, 4, 5, 6));
  EXPECT_THAT(seen(shape, {.right = 1}), testing::ElementsAre(2, 3, 0, 5, 6, 0, 8, 9, 0));
  EXPECT_THAT(seen(shape, {.right = -2}),
              testing::ElementsAre(0, 0, 1, 0, 0, 4, 0, 0, 7));
}

TEST(Pixels, AreMirroredAfterTheyMoved) {
  const Shape shape = {1, 1, 4};
  EXPECT_THAT(seen(shape, {.mirrored = true}), testing::ElementsAre(4, 3, 2, 1));
  EXPECT_THAT(seen(shape, {.right = 1, .mirrored = true}),
              testing::ElementsAre(0, 4, 3, 2));
}

TEST(Pixels, AreBlackBeforeNormalisation) {
  const Shape shape = {2, 1, 2};
  const PixelWriter tables(shape, {.moments = {{0.25, 0.5}, {0.5, 0.5}}});
  Numbers numbers(4);

  tables.write(numbered_pixels(shape), {.down = 4}, numbers.data());

  EXPECT_THAT(numbers, testing::ElementsAre(-0.5f, -0.5f, -1.0f, -1.0f));
}

/// 0 1 2 1 0 1 2 ...: step by step, turning around at the edges.
int turned_at_edges(int place, int size) {
  int at = 0, direction = -1;
  for (int step = std::abs(place); step > 0 && size > 1; --step) {
    if (at == 0 || at == size - 1) direction = -direction;
    at += direction;
  }
  return at;
}

/// Padding, cropping and mirroring, written out.
Numbers by_hand(Shape shape, const View& view) {
  const std::vector<std::uint8_t> image = numbered_pixels(shape);
  Numbers numbers;
  for (int c = 0; c < shape.channels; ++c) {
    for (int y = 0; y < shape.height; ++y) {
      for (int x = 0; x < shape.width; ++x) {
        int row = y + view.down;
        int column = (view.mirrored ? shape.width - 1 - x : x) + view.right;
        if (view.edges_mirror) {
          row = turned_at_edges(row, shape.height);
          column = turned_at_edges(column, shape.width);
        }
        const bool inside =
            row >= 0 && row < shape.height && column >= 0 && column < shape.width;
        const int at = (c * shape.height + row) * shape.width + column;
        numbers.push_back(inside ? image[static_cast<std::size_t>(at)] : 0.0f);
      }
    }
  }
  return numbers;
}

TEST(Pixels, OfOddShapesAreThoseOfThePaddedCrop) {
  for (const Shape shape :
       {Shape{1, 1, 1}, Shape{1, 3, 2}, Shape{3, 7, 5}, Shape{1, 5, 11}}) {
    for (int down = -4; down <= 4; ++down) {
      for (int right = -4; right <= 4; ++right) {
        for (const int flags : {0, 1, 2, 3}) {
          const View view = {down, right, flags % 2 != 0, flags / 2 != 0};
          ASSERT_THAT(seen(shape, view),
                      testing::Pointwise(testing::FloatEq(), by_hand(shape, view)));
        }
      }
    }
  }
}

TEST(Pixels, OfFloatsAreNormalisedByTheFormula) {
  const Shape shape = {2, 1, 2};
  const PixelWriter writer(shape, {.moments = {{0.5, 0.25}, {-3, 2}}});
  Numbers numbers(4);

  writer.write(Numbers{1, 0.5, 7, -3}, {}, numbers.data());

  EXPECT_THAT(numbers, testing::ElementsAre(2, 0, 5, 0));
}

TEST(Pixels, OfFloatsAreShownInTheSameViews) {
  const Shape shape = {3, 7, 5};
  const std::vector<std::uint8_t> bytes = numbered_pixels(shape);
  const PixelWriter writer(shape, {.moments = {{.mean = 0, .deviation = 1}}});
  for (int down = -4; down <= 4; ++down) {
    for (const int flags : {0, 1, 2, 3}) {
      const View view = {down, 4 - down, flags % 2 != 0, flags / 2 != 0};
      Numbers numbers(shape.size(), -1);
      writer.write(Numbers(bytes.begin(), bytes.end()), view, numbers.data());
      ASSERT_THAT(numbers, testing::Pointwise(testing::FloatEq(), by_hand(shape, view)));
    }
  }
}

}  // namespace
}  // namespace convoy
