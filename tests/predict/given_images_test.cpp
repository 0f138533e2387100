// SPDX-License-Identifier: Apache-2.0

#include "convoy/predict/given_images.h"

#include "tests/base/expect_error.h"
#include "tests/data/idx_files.h"
#include "tests/images/image_folders.h"

namespace convoy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(GivenImages, AreFilesAndThoseInFolders) {
  const ImageFolder folder;
  folder.add("b/2.JPG");
  folder.add("b/a/1.png");
  folder.add("b/folder.jpg/3.jpg");
  folder.write("b/notes.txt", "text");
  folder.write("empty/notes.txt", "text");

  EXPECT_THAT(image_files({"gone.jpg", folder.path("b")}),
              ElementsAre("gone.jpg", folder.path("b/2.JPG"), folder.path("b/a/1.png"),
                          folder.path("b/folder.jpg/3.jpg")));
  expect_error(InputKind::usage, {folder.path("empty"), "no images"},
               [&] { image_files({folder.path("empty")}); });
}

TEST(GivenImages, HaveThePixelsOfARunsImages) {
  const ImageFolder folder;
  folder.add("grey.png", "grey.png");  // 61 x 43
  folder.write("bad.png", "text");
  const Dataset grey{.name = "x", .shape = {1, 43, 61}, .classes = {"a", "b"}};
  const Image image = decode_image(read_bytes(folder.path("grey.png")), "x");

  const GivenImages given =
      given_files({folder.path("grey.png"), folder.path("bad.png")}, grey, 2);

  ASSERT_EQ(given.data.size(), 2u);
  EXPECT_THAT(given.faults[0], IsEmpty());
  EXPECT_THAT(given.faults[1], HasSubstr("bad.png"));
  for (std::size_t i = 0; i < 43 * 61; ++i) {
    ASSERT_EQ(given.data.image(0)[i], image.pixels[3 * i]) << i;
  }
  const Dataset many{.name = "x", .shape = {5, 43, 61}};
  expect_error(InputKind::settings, {"data=x", "images of 5 channels"},
               [&] { given_files({}, many, 1); });
}

TEST(GivenImages, AreInIdxFilesPlainAndPacked) {
  const ImageFolder folder;
  folder.write("plain", idx_images(2, 3, 4));
  folder.write("packed.gz", gzip(idx_images(2, 3, 4)));
  folder.add("image.jpg");
  const Dataset grey{.name = "x", .shape = {1, 3, 4}, .classes = {"a", "b"}};

  EXPECT_FALSE(is_idx_file(folder.path("image.jpg")));
  EXPECT_FALSE(is_idx_file("gone"));
  for (const char* name : {"plain", "packed.gz"}) {
    ASSERT_TRUE(is_idx_file(folder.path(name)));
    const GivenImages given = given_idx(folder.path(name), grey);
    EXPECT_EQ(given.data.size(), 2u);
    EXPECT_EQ(given.names[1], folder.path(name).string() + "[1]");
    EXPECT_EQ(given.data.image(1)[0], 12);
  }
}

}  // namespace
}  // namespace convoy
