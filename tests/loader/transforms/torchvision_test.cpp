// SPDX-License-Identifier: Apache-2.0
//
// Transforms of images, compared with torchvision's on the same drawn parameters.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "convoy/loader/image_resizer.h"
#include "convoy/loader/transforms/colour_jitter.h"
#include "convoy/loader/transforms/rand_augment.h"
#include "tests/images/pillow_images.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::array<const char*, kImageOperations> kNames = {
    "Identity",  "ShearX",     "ShearY",       "TranslateX", "TranslateY",
    "Rotate",    "Brightness", "Color",        "Contrast",   "Sharpness",
    "Posterize", "Solarize",   "AutoContrast", "Equalize"};

/// An image file, resized.
std::vector<std::uint8_t> resized_image(const std::string& path, ImageSize size) {
  const std::vector<std::byte> content = read_bytes(path);
  ImageFile file(content, path);
  ImageResizer resizer;
  const auto pixels =
      resizer.show(file, {whole(file.size()), size, whole(size)}, Decoding::exact);
  return {pixels.begin(), pixels.end()};
}

/// What is asked of torchvision, and what we make of the same.
struct Comparison {
  explicit Comparison(ImageSize of) : size(of) {}

  void add_operation(const std::string& path, const DrawnOperation& drawn) {
    std::vector<std::uint8_t> image = resized_image(path, size), scratch;
    apply(drawn, Planes{image, size}, scratch);
    add({{"path", path},
         {"operation", kNames[static_cast<std::size_t>(drawn.operation)]},
         {"magnitude", drawn.magnitude}},
        image);
  }

  void add_jitter(const std::string& path, const DrawnJitter& drawn) {
    std::vector<std::uint8_t> image = resized_image(path, size);
    apply(ColourJitter{1, 1, 1, 0.5}, drawn, Planes{image, size});
    add({{"path", path}, {"order", drawn.order}, {"factors", drawn.factors}}, image);
  }

  void add(const json& asked, const std::vector<std::uint8_t>& image) {
    cases.push_back(asked);
    made.push_back(image);
  }

  /// Expects torchvision's pixels. Returns its answer.
  json ask() const {
    const TemporaryFolder folder;
    const json answer = ask_python("loader/transforms/torchvision_transforms.py",
                                   {{"size", {size.width, size.height}},
                                    {"out", (folder.path() / "out").string()},
                                    {"cases", cases}});
    const std::vector<std::byte> expected = read_bytes(folder.path() / "out");
    std::size_t at = 0;
    for (std::size_t i = 0; i < made.size(); ++i) {
      int largest = 0;
      for (const std::uint8_t byte : made[i]) {
        const int apart = std::abs(byte - std::to_integer<int>(expected.at(at++)));
        largest = std::max(largest, apart);
      }
      EXPECT_EQ(largest, 0) << cases[i];
    }
    EXPECT_EQ(at, expected.size());
    return answer;
  }

  ImageSize size;
  json cases = json::array();
  std::vector<std::vector<std::uint8_t>> made{};
};

void add_all(const std::string& path, std::uint32_t number, Comparison& comparison) {
  for (int i = 0; i < kImageOperations; ++i) {
    const auto operation = static_cast<ImageOperation>(i);
    for (const int bin : {0, 9, 17, 30}) {
      const double magnitude = magnitude_of(operation, bin, comparison.size);
      comparison.add_operation(path, {operation, magnitude});
      if (has_sign(operation)) comparison.add_operation(path, {operation, -magnitude});
    }
  }
  for (std::uint32_t sample = 0; sample < 12; ++sample) {
    const RandomStream stream(number, RngStream::augment, 1, sample);
    comparison.add_jitter(path, draw_jitter({0.9, 0.9, 0.9, 0.5}, stream));
  }
}

TEST(Transforms, AreThoseOfTorchvision) {
  Comparison comparison({61, 47});
  const PillowImages& images = PillowImages::get();
  for (const char* name : {"sub420.jpg", "palette.png", "large.jpg", "grey.jpg"}) {
    add_all(images.path(name), 1, comparison);
  }
  const json answer = comparison.ask();

  for (int i = 0; i < kImageOperations; ++i) {
    const auto operation = static_cast<ImageOperation>(i);
    const std::string name = kNames[static_cast<std::size_t>(i)];
    for (int bin = 0; bin < kMagnitudes; ++bin) {
      // torch adds multiples of the step in vectors: the last bits may differ.
      EXPECT_FLOAT_EQ(
          static_cast<float>(magnitude_of(operation, bin, comparison.size)),
          answer["magnitudes"][name][static_cast<std::size_t>(bin)].get<float>())
          << name << " " << bin;
    }
    EXPECT_EQ(has_sign(operation),
              std::count(answer["signed"].begin(), answer["signed"].end(), name) == 1);
  }
}

TEST(Transforms, AreThoseOfTorchvisionInAFolderThatTheEnvironmentNames) {
  const char* folder = std::getenv("CONVOY_TEST_IMAGES");
  if (folder == nullptr) GTEST_SKIP() << "CONVOY_TEST_IMAGES names no folder";
  std::uint32_t number = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    Comparison comparison({224, 224});
    add_all(entry.path(), number++, comparison);
    comparison.ask();
  }
}

}  // namespace
}  // namespace convoy
