// SPDX-License-Identifier: Apache-2.0

#include "convoy/pack/pack.h"

#include <algorithm>

#include "convoy/data/packed/packed_format.h"
#include "convoy/data/synthetic.h"
#include "convoy/images/image_file.h"
#include "convoy/images/raw_image.h"
#include "tests/base/expect_error.h"
#include "tests/images/image_folders.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string content_of(const Dataset& data, std::size_t sample) {
  std::vector<std::byte> buffer;
  const auto bytes = data.files->contents->read(sample, buffer);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Image image_of_sample(const Dataset& data, std::size_t sample) {
  const std::string content = content_of(data, sample);
  return decode_image(std::as_bytes(std::span(content)), "x");
}

class Pack : public testing::Test {
 protected:
  Pack() {
    folder.add_two_classes();
    pair = open_image_folder(folder.options());
  }

  PackOptions options(const ImagePacking& images = {}) const {
    return {.file = folder.path("a.pack"), .images = images, .threads = 2};
  }

  DataPair opened() const {
    ImageFolderOptions images = folder.options();
    images.root = folder.path("a.pack");
    return open_packed(images);
  }

  const ImageFolder folder;
  DataPair pair;
};

TEST_F(Pack, KeepsFilesAsTheyAre) {
  const PackResult result = pack_data(pair, options());
  const DataPair packed = opened();

  EXPECT_TRUE(result.complete);
  EXPECT_EQ(result.train, 5u);
  EXPECT_EQ(result.val, 2u);
  EXPECT_EQ(result.bytes, fs::file_size(folder.path("a.pack")));
  EXPECT_EQ(packed.train.classes, pair.train.classes);
  EXPECT_EQ(packed.train.labels, pair.train.labels);
  EXPECT_EQ(packed.test.labels, pair.test.labels);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(content_of(packed.train, i), content_of(pair.train, i)) << i;
  }
  EXPECT_EQ(content_of(packed.test, 1), content_of(pair.test, 1));
  EXPECT_FALSE(fs::exists(folder.path("a.pack.partial")));
  verify_packed(folder.path("a.pack"));
}

TEST_F(Pack, HasTheSamePixelsAsRaw) {
  pack_data(pair, options({.as = PackedAs::raw}));
  const DataPair packed = opened();
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(image_of_sample(packed.train, i).pixels,
              image_of_sample(pair.train, i).pixels);
  }
}

TEST_F(Pack, ResizesLargerImagesOnce) {
  pack_data(pair, options({.as = PackedAs::raw, .short_side = 50}));
  const DataPair packed = opened();

  // 133 x 97, 61 x 43 (smaller: kept), 133 x 97, 133 x 97, 611 x 403.
  EXPECT_EQ(image_of_sample(packed.train, 0).size, (ImageSize{68, 50}));
  EXPECT_EQ(image_of_sample(packed.train, 1).size, (ImageSize{61, 43}));
  EXPECT_EQ(image_of_sample(packed.train, 4).size, (ImageSize{75, 50}));
}

TEST_F(Pack, WritesResizedImagesAsJpeg) {
  pack_data(pair, options({.short_side = 50, .quality = 95}));
  const DataPair packed = opened();

  EXPECT_EQ(content_of(packed.train, 1), content_of(pair.train, 1));
  EXPECT_EQ(image_of_sample(packed.train, 4).size, (ImageSize{75, 50}));
  EXPECT_EQ(content_of(packed.train, 4).substr(0, 2), "\xFF\xD8");
}

TEST_F(Pack, NamesAnImageThatIsTooLongForAJpeg) {
  Image image;
  image.resize({140'000, 2});
  const std::vector<std::byte> bytes = raw_image_bytes(image);
  folder.write("train/dog/b.JPG",
               {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  expect_error(InputKind::data, {"train/dog/b.JPG\n", "what libjpeg refuses"},
               [&] { pack_data(pair, options({.short_side = 1})); });
}

TEST_F(Pack, ContinuesWhereItWasStopped) {
  for (int i = 0; i < 200; ++i) {
    folder.add("train/dog/more" + std::to_string(i) + ".jpg", "sub422.jpg");
  }
  pair = open_image_folder(folder.options());
  PackOptions stopping = options();
  int blocks = 0;
  stopping.should_stop = [&] { return ++blocks > 2; };
  const PackResult stopped = pack_data(pair, stopping);
  EXPECT_FALSE(stopped.complete);
  EXPECT_FALSE(fs::exists(folder.path("a.pack")));
  // As a process leaves it that is killed while it writes.
  const fs::path records = folder.path("a.pack.partial/records");
  fs::resize_file(records, fs::file_size(records) - 30);

  const PackResult result = pack_data(pair, options());

  EXPECT_EQ(result.resumed, 126u);
  ASSERT_TRUE(result.complete);
  const std::string continued = read_text(folder.path("a.pack"));
  fs::remove(folder.path("a.pack"));
  pack_data(pair, options());
  EXPECT_TRUE(continued == read_text(folder.path("a.pack")));
}

TEST_F(Pack, BeginsAnewIfItIsAnotherJob) {
  PackOptions stopping = options();
  stopping.should_stop = [] { return true; };
  pack_data(pair, stopping);
  folder.write("a.pack.partial/job", "another");
  folder.write("a.pack.partial/records", std::string(240, 'x'));

  EXPECT_EQ(pack_data(pair, options()).resumed, 0u);
  verify_packed(folder.path("a.pack"));
}

TEST_F(Pack, RefusesADamagedFileOrLeavesItOut) {
  folder.write("train/dog/b.JPG", "text");
  expect_error(InputKind::data, {"train/dog/b.JPG\n", "neither a JPEG nor a PNG"},
               [&] { pack_data(pair, options()); });
  EXPECT_FALSE(fs::exists(folder.path("a.pack")));

  PackOptions skipping = options();
  skipping.skip_damaged = true;
  const PackResult result = pack_data(pair, skipping);
  EXPECT_EQ(result.train, 4u);
  ASSERT_THAT(result.left_out, SizeIs(1));
  EXPECT_THAT(result.left_out[0], HasSubstr("train/dog/b.JPG"));
  EXPECT_EQ(opened().train.size(), 4u);
}

TEST_F(Pack, RefusesAFileThatIsGoneAlsoIfDamagedOnesAreLeftOut) {
  fs::remove(folder.path("train/dog/b.JPG"));
  PackOptions skipping = options();
  skipping.skip_damaged = true;
  expect_error(InputKind::storage, {"train/dog/b.JPG\n", "No such file"},
               [&] { pack_data(pair, skipping); });
  EXPECT_FALSE(fs::exists(folder.path("a.pack")));
}

TEST_F(Pack, RefusesANameThatIsTaken) {
  folder.write("a.pack", "mine");
  expect_error(InputKind::storage, {"a.pack\n", "a file of that name"},
               [&] { pack_data(pair, options()); });
  EXPECT_EQ(read_text(folder.path("a.pack")), "mine");
}

TEST_F(Pack, RefusesAFolderWithoutTheNameOfAFile) {
  const fs::path place = folder.path("new/");
  expect_error(InputKind::usage, {"--out\n  found:    " + place.string(), "images.pack"},
               [&] { pack_data(pair, {.file = place}); });
  EXPECT_FALSE(fs::exists(place));
}

TEST_F(Pack, RefusesANameThatIsTakenMeanwhile) {
  PackOptions slow = options();
  slow.progress = [&](std::size_t, std::size_t) { folder.write("a.pack", "mine"); };
  expect_error(InputKind::storage, {"a.pack\n", "a file of that name"},
               [&] { pack_data(pair, slow); });
  EXPECT_EQ(read_text(folder.path("a.pack")), "mine");

  fs::remove(folder.path("a.pack"));
  EXPECT_EQ(pack_data(pair, options()).resumed, 7u);
  verify_packed(folder.path("a.pack"));
}

TEST_F(Pack, TakesColourImagesInMemory) {
  SyntheticOptions made;
  made.shape = {3, 8, 6};
  made.train_count = 3;
  made.test_count = 2;
  const DataPair memory = make_synthetic(made);
  pack_data(memory, options({.as = PackedAs::raw}));

  const Image image = image_of_sample(opened().train, 2);
  ASSERT_EQ(image.size, (ImageSize{6, 8}));
  EXPECT_EQ(image.pixels[3 * 5 + 1], memory.train.image(2)[48 + 5]);

  made.shape = {1, 8, 6};
  expect_error(InputKind::settings, {"data\n", "synthetic, whose images are grey"},
               [&] { pack_data(make_synthetic(made), {.file = folder.path("b.pack")}); });
}

TEST_F(Pack, MustNotShrinkWhileItIsUsed) {
  pack_data(pair, options());
  const DataPair packed = opened();
  fs::resize_file(folder.path("a.pack"), 4096);
  expect_error(InputKind::storage, {"a.pack", "shrink"},
               [&] { content_of(packed.test, 1); });
}

TEST_F(Pack, IsRefusedIfTheFileIsDamaged) {
  pack_data(pair, options());
  const std::string good = read_text(folder.path("a.pack"));
  const auto expect_refused = [&](const std::string& content, const std::string& found) {
    folder.write("a.pack", content);
    expect_error(InputKind::data, {"a.pack", found}, [&] {
      opened();
      verify_packed(folder.path("a.pack"));
    });
  };
  const auto changed = [&](std::size_t at) {
    std::string content = good;
    content[at] ^= 1;
    return content;
  };
  expect_refused("", "an empty file");
  expect_refused("text", "a file of another kind");
  expect_refused(changed(0), "a file of another kind");
  expect_refused(changed(8), "version 0");
  expect_refused(changed(24), "bytes");
  expect_refused(changed(50), "records with SHA-256 ");
  expect_refused(good.substr(0, good.size() - 1), "bytes");
  expect_refused(changed(good.size() - 3), "records with SHA-256 ");
  expect_refused(changed(300), "an image whose checksum is wrong");
  expect_refused(changed(300), "a.pack: sample 0 of train");
}

}  // namespace
}  // namespace convoy
