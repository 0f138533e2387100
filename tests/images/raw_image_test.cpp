// SPDX-License-Identifier: Apache-2.0

#include "convoy/images/raw_image.h"

#include <algorithm>
#include <ranges>

#include "convoy/images/image_file.h"
#include "convoy/images/jpeg_writer.h"
#include "tests/base/expect_error.h"
#include "tests/images/pillow_images.h"

namespace convoy {
namespace {

Image image_named(const std::string& name) {
  return decode_image(PillowImages::get().content(name), name);
}

TEST(RawImage, HasTheSamePixelsAgainInWholeAndInPart) {
  const Image image = image_named("rgb.png");
  const std::vector<std::byte> bytes = raw_image_bytes(image);

  EXPECT_EQ(decode_image(bytes, "x").pixels, image.pixels);

  ImageFile file(bytes, "x");
  Image part;
  const Box box{7, 5, 20, 11};
  const Box place = file.read(box, 1, part);
  EXPECT_EQ(place, whole(part.size));
  EXPECT_EQ(part.size, (ImageSize{20, 11}));
  EXPECT_EQ(part.row(10)[59], image.row(15)[3 * 26 + 2]);
}

TEST(RawImage, IsRefusedUnlessItIsAsLongAsItSays) {
  std::vector<std::byte> bytes = raw_image_bytes(image_named("rgb.png"));
  bytes.pop_back();
  expect_error(InputKind::data, {"x\n", "a raw image of 7,868 bytes for 61 x 43 pixels"},
               [&] { decode_image(bytes, "x"); });
  bytes.resize(10);
  expect_error(InputKind::data, {"x\n", "a damaged raw image"},
               [&] { decode_image(bytes, "x"); });
  bytes.assign(16, std::byte{0xff});
  std::ranges::copy(raw_image_bytes(image_named("rgb.png")) | std::views::take(8),
                    bytes.begin());
  expect_error(InputKind::data, {"announces 4,294,967,295 x 4,294,967,295 pixels"},
               [&] { decode_image(bytes, "x"); });
}

TEST(JpegWriter, LosesLittle) {
  Image image;
  image.resize({64, 48});
  for (int y = 0; y < 48; ++y) {
    for (int x = 0; x < 192; ++x) image.row(y)[x] = static_cast<std::uint8_t>(x + y);
  }
  const Image again = decode_image(jpeg_bytes(image, 95, "x"), "x");

  ASSERT_EQ(again.size, image.size);
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    ASSERT_NEAR(again.pixels[i], image.pixels[i], 12) << i;
  }
  EXPECT_LT(jpeg_bytes(image, 20, "x").size(), jpeg_bytes(image, 95, "x").size());
}

TEST(JpegWriter, RefusesWhatHasNoRoomInAJpeg) {
  Image image;
  image.resize({70'000, 1});
  expect_error(InputKind::data, {"x\n", "what libjpeg refuses"},
               [&] { jpeg_bytes(image, 90, "x"); });
}

}  // namespace
}  // namespace convoy
