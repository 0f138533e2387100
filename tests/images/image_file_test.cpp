// SPDX-License-Identifier: Apache-2.0

#include "convoy/images/image_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "convoy/base/sha256.h"
#include "convoy/images/image_faults.h"
#include "tests/base/expect_error.h"
#include "tests/images/pillow_images.h"

namespace convoy {
namespace {

using nlohmann::json;

const PillowImages& files() { return PillowImages::get(); }

void expect_as_pillow(const json& facts) {
  for (const auto& [path, fact] : facts.items()) {
    const Image image = decode_image(read_bytes(path), path);
    EXPECT_EQ(image.size, (ImageSize{fact["width"], fact["height"]})) << path;
    EXPECT_EQ(sha256_hex(std::as_bytes(std::span(image.pixels))), fact["sha256"]) << path;
  }
}

TEST(ImageFile, HasThePixelsOfPillow) {
  ASSERT_EQ(files().facts().size(), 21u);
  expect_as_pillow(files().facts());
}

TEST(ImageFile, HasThePixelsOfPillowInAFolderThatTheEnvironmentNames) {
  const char* folder = std::getenv("CONVOY_TEST_IMAGES");
  if (folder == nullptr) GTEST_SKIP() << "CONVOY_TEST_IMAGES names no folder";
  expect_as_pillow(ask_python("images/pillow_images.py", {{"read", folder}}));
}

Box random_box(ImageSize size, std::mt19937& random) {
  const auto below = [&](int count) {
    return static_cast<int>(random() % static_cast<unsigned>(count));
  };
  const int left = below(size.width), top = below(size.height);
  return {left, top, 1 + below(size.width - left), 1 + below(size.height - top)};
}

/// The pixels of a box.
std::vector<std::uint8_t> part_of(const Image& image, const Box& box) {
  std::vector<std::uint8_t> pixels;
  for (int y = box.top; y < box.top + box.height; ++y) {
    const std::uint8_t* row = image.row(y) + std::ptrdiff_t{3} * box.left;
    pixels.insert(pixels.end(), row, row + std::ptrdiff_t{3} * box.width);
  }
  return pixels;
}

void expect_same_boxes(const std::string& path, std::mt19937& random) {
  const std::vector<std::byte> content = read_bytes(path);
  const Image all = decode_image(content, path);
  for (int i = 0; i < 12; ++i) {
    const Box box = random_box(all.size, random);
    Image part;
    const Box place = ImageFile(content, path).read(box, 1, part);
    ASSERT_EQ(part_of(part, place), part_of(all, box))
        << path << " " << box.left << " " << box.top << " " << box.width << " "
        << box.height;
  }
}

TEST(ImageFile, ReadsABoxAsItIsInTheWholeImage) {
  std::mt19937 random(5);
  for (const auto& [path, fact] : files().facts().items()) {
    expect_same_boxes(path, random);
  }
}

TEST(ImageFile, ReducesAJpegAsLongAsItIsLargeEnough) {
  const std::vector<std::byte> content = files().content("large.jpg");
  ImageFile file(content, "large.jpg");
  const Box all = whole(file.size());

  EXPECT_EQ(file.reduction(all, {76, 50}, Decoding::fast), 8);
  EXPECT_EQ(file.reduction(all, {76, 51}, Decoding::fast), 4);
  EXPECT_EQ(file.reduction(all, {400, 20}, Decoding::fast), 1);
  EXPECT_EQ(file.reduction(all, {76, 50}, Decoding::exact), 1);
  Image image;
  const Box box = reduced(all, 4);
  EXPECT_EQ(file.read(box, 4, image), (Box{0, 0, 152, 100}));
  EXPECT_EQ(image.size, (ImageSize{153, 100}));
}

TEST(ImageFile, DoesNotReduceAPng) {
  const std::vector<std::byte> content = files().content("rgb.png");
  const ImageFile file(content, "rgb.png");

  EXPECT_EQ(file.reduction(whole(file.size()), {1, 1}, Decoding::fast), 1);
}

using Bytes = std::vector<std::byte>;

Bytes bytes_of(std::initializer_list<int> numbers) {
  Bytes bytes;
  for (const int number : numbers) bytes.push_back(static_cast<std::byte>(number));
  return bytes;
}

void expect_refused(const Bytes& content, const std::string& found) {
  expect_error(InputKind::data,
               {"a/file.jpg\n", "found:    " + found,
                "expected: a complete JPEG or PNG file, 8-bit grey, RGB or CMYK",
                "hint:     replace or remove the file"},
               [&] { decode_image(content, "a/file.jpg"); });
}

TEST(ImageFile, RefusesWhatIsNoImage) {
  expect_refused({}, "an empty file");
  expect_refused(bytes_of({'h', 'e', 'l', 'l', 'o'}),
                 "a file that is neither a JPEG nor a PNG");
  expect_refused(bytes_of({0xFF, 0xD8, 0xFF}),
                 "a damaged JPEG (Premature end of input file)");
  expect_refused(bytes_of({0x89, 'P', 'N', 'G', 1, 2, 3}), "a file that is not a PNG");
}

TEST(ImageFile, RefusesAFileCutShortAnywhere) {
  for (const std::string name :
       {"sub420.jpg", "progressive444.jpg", "grey.jpg", "cmyk.jpg", "palette.png"}) {
    const Bytes whole = files().content(name);
    for (std::size_t size = 8; size < whole.size(); size += 97) {
      expect_refused({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)},
                     "a damaged ");
    }
    expect_refused({whole.begin(), whole.end() - 3}, "a damaged ");
  }
}

/// Replaces the size in the header of a JPEG's frame.
Bytes with_size(Bytes jpeg, unsigned width, unsigned height, int frame) {
  const Bytes marker = bytes_of({0xFF, frame});
  const auto at = std::ranges::search(jpeg, marker).begin();
  for (int i = 0; i < 2; ++i) {
    at[5 + i] = static_cast<std::byte>(height >> (8 - 8 * i));
    at[7 + i] = static_cast<std::byte>(width >> (8 - 8 * i));
  }
  return jpeg;
}

TEST(ImageFile, RefusesAHugeSizeBeforeItTakesMemory) {
  for (const auto& [name, frame] :
       {std::pair("sub420.jpg", 0xC0), std::pair("progressive420.jpg", 0xC2)}) {
    const auto bomb = with_size(files().content(name), 65500, 65500, frame);
    expect_error(InputKind::data,
                 {"found:    a header that announces 65,500 x 65,500 pixels",
                  "expected: from 1 to 178,956,970 pixels"},
                 [&] { decode_image(bomb, name); });
  }
}

TEST(ImageFile, RefusesAJpegOfTwoColours) {
  Bytes content = files().content("sub444.jpg");
  const Bytes frame = bytes_of({0xFF, 0xC0}), scan = bytes_of({0xFF, 0xDA});
  const auto of_frame = std::ranges::search(content, frame).begin();
  of_frame[3] = std::byte{8 + 3 * 2};
  of_frame[9] = std::byte{2};
  content.erase(of_frame + 16, of_frame + 19);
  const auto of_scan = std::ranges::search(content, scan).begin();
  of_scan[3] = std::byte{6 + 2 * 2};
  of_scan[4] = std::byte{2};
  content.erase(of_scan + 9, of_scan + 11);
  expect_refused(content, "a JPEG of 2 colours");
}

TEST(ImageFile, SurvivesDamageAnywhere) {
  std::mt19937 random(11);
  int refused = 0;
  for (const std::string name : {"progressive420.jpg", "cmyk.jpg", "transparent.png"}) {
    const Bytes whole = files().content(name);
    for (int i = 0; i < 100; ++i) {
      Bytes damaged = whole;
      for (int k = 0; k < 3; ++k) {
        damaged[random() % damaged.size()] = static_cast<std::byte>(random());
      }
      try {
        decode_image(damaged, name);
      } catch (const InputError&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 50);
}

}  // namespace
}  // namespace convoy
