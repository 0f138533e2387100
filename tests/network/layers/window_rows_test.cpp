// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/rearrange/window_rows.h"

#include <gmock/gmock.h>

#include "convoy/base/error.h"
#include "tests/network/double_layer.h"

namespace convoy {
namespace {

const DoubleLayer<WindowRows> kWindowRows("window_rows", [](const WindowRows& layer,
                                                            const DoubleArguments& of) {
  DoubleBatch dst(of.dst, of.samples());
  const auto move = [&](std::size_t image_row, std::size_t window_row) {
    for (int c = 0; c < of.dst.channels; ++c) {
      dst.at(layer.back ? image_row : window_row, c) =
          of.first().at(layer.back ? window_row : image_row, c);
    }
  };
  std::size_t window_row = 0;
  for (std::size_t sample = 0; sample < of.samples(); ++sample) {
    for (int top = 0; top < layer.height; top += layer.window_height) {
      for (int left = 0; left < layer.width; left += layer.window_width) {
        for (int y = top; y < top + layer.window_height; ++y) {
          for (int x = left; x < left + layer.window_width; ++x) {
            const std::size_t pixels = of.dst.rows;
            move(sample * pixels + y * layer.width + x, window_row++);
          }
        }
      }
    }
  }
  return dst;
});

TEST(WindowRows, RefusesWindowsThatAreNotWholeParts) {
  const auto describe = [](const WindowRows& options) {
    const Layer layer = options;
    const Shape shape = {3, 1, 1, 24};
    layer.kind().describe(layer, {.src = {&shape, 1}});
  };
  EXPECT_NO_THROW(describe({4, 6, 2, 3}));
  EXPECT_THROW(describe({4, 6, 3, 3}), InputError);
  EXPECT_THROW(describe({4, 6, 2, 4}), InputError);
  EXPECT_THROW(describe({4, 6, 0, 3}), InputError);
  EXPECT_THROW(describe({4, 5, 2, 5}), InputError);
  EXPECT_THROW(describe({1 << 30, 1 << 30, 1, 1}), InputError);
}

TEST(WindowRows, KeepsPartsOfARolledImageApartAsSwinDoes) {
  // 0 0 1 2
  // 0 0 1 2
  // 3 3 4 5
  // 6 6 7 8
  EXPECT_THAT(shifted_regions({4, 4, 2, 2}, 1, 1),
              testing::ElementsAre(0, 0, 0, 0, 1, 2, 1, 2, 3, 3, 6, 6, 4, 5, 7, 8));
}

}  // namespace
}  // namespace convoy
