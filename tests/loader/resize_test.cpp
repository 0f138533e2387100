// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/resize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "tests/allocation_count.h"
#include "tests/ask_python.h"

namespace convoy {
namespace {

using nlohmann::json;

struct ResizeCase {
  Shape from, to;
};

ResizeCase resize_case(int channels, int height, int width, int to_height, int to_width) {
  return {{channels, height, width}, {channels, to_height, to_width}};
}

/// Larger, smaller, the same; one way each; odd, of a single pixel.
std::vector<ResizeCase> resize_cases() {
  return {resize_case(3, 32, 32, 224, 224), resize_case(1, 28, 28, 224, 224),
          resize_case(3, 32, 32, 64, 64),   resize_case(3, 32, 32, 33, 33),
          resize_case(1, 28, 28, 32, 32),   resize_case(3, 64, 48, 32, 32),
          resize_case(3, 100, 75, 32, 32),  resize_case(1, 57, 131, 40, 40),
          resize_case(3, 32, 32, 16, 16),   resize_case(3, 32, 32, 7, 7),
          resize_case(1, 20, 90, 45, 45),   resize_case(3, 31, 17, 224, 5),
          resize_case(1, 9, 9, 9, 4),       resize_case(1, 9, 9, 4, 9),
          resize_case(3, 12, 12, 12, 12),   resize_case(1, 1, 1, 8, 8),
          resize_case(1, 5, 7, 1, 1),       resize_case(1, 1, 40, 3, 3),
          resize_case(1, 300, 2, 2, 300),   resize_case(1, 224, 224, 32, 32)};
}

/// Noise, edges from black to white, or one colour: sums that round either way, and clip.
template <class Number>
std::vector<Number> made_up_image(Shape shape, std::mt19937& random) {
  const int kind = static_cast<int>(random() % 3);
  std::vector<Number> image(shape.size());
  for (Number& pixel : image) {
    const unsigned noise = static_cast<unsigned>(random() % 256);
    const unsigned byte = kind == 0 ? noise : kind == 1 ? 255 * (noise % 2) : 255;
    pixel = static_cast<Number>(byte);
    if constexpr (std::is_same_v<Number, float>) pixel = (pixel - 100) / 17;
  }
  return image;
}

template <class Number>
void expect_same_as_pillow() {
  std::mt19937 random(7);
  json request = json::array();
  std::vector<std::vector<Number>> images;
  for (const auto& [from, to] : resize_cases()) {
    images.push_back(made_up_image<Number>(from, random));
    request.push_back({{"channels", from.channels},
                       {"height", from.height},
                       {"width", from.width},
                       {"to", {to.height, to.width}},
                       {"floats", std::is_same_v<Number, float>},
                       {"pixels", images.back()}});
  }
  const json expected = ask_python("loader/pillow_resize.py", request);
  for (std::size_t i = 0; i < images.size(); ++i) {
    const auto [from, to] = resize_cases()[i];
    Resizer<Number> resizer(from, to);
    const auto found = resizer.resize(images[i]);
    EXPECT_EQ(std::vector<Number>(found.begin(), found.end()),
              expected[i].get<std::vector<Number>>())
        << from.height << " x " << from.width << " to " << to.height << " x " << to.width;
  }
}

TEST(Resize, OfBytesIsPillowsToTheBit) { expect_same_as_pillow<std::uint8_t>(); }

TEST(Resize, OfFloatsIsPillowsToTheBit) { expect_same_as_pillow<float>(); }

TEST(Resize, AllocatesNothing) {
  Resizer<std::uint8_t> resizer({3, 32, 32}, {3, 64, 64});
  const std::vector<std::uint8_t> image(3 * 32 * 32, 9);

  const long before = allocation_count();
  const auto resized = resizer.resize(image);

  EXPECT_EQ(allocation_count(), before);
  EXPECT_TRUE(std::ranges::all_of(resized, [](int pixel) { return pixel == 9; }));
}

}  // namespace
}  // namespace convoy
