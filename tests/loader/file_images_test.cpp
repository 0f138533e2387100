// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/file_images.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "convoy/base/sha256.h"
#include "convoy/loader/loader.h"
#include "tests/base/expect_error.h"
#include "tests/images/image_folders.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

std::string digest_of(std::span<const std::uint8_t> pixels) {
  return sha256_hex(std::as_bytes(pixels));
}

/// Images of a size, shown as their centre and as some random cutouts, by path.
void expect_as_torchvision(const std::vector<std::string>& paths, int short_side,
                           ImageSize shown) {
  json request = json::array();
  std::vector<std::string> digests;
  ImageResizer resizer;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::vector<std::byte> content = read_bytes(paths[i]);
    for (std::uint32_t epoch = 0; epoch < 4; ++epoch) {
      ImageFile file(content, paths[i]);
      const AugmentKey key = {7, epoch, static_cast<std::uint32_t>(i)};
      const Cutout cutout = epoch == 0 ? centre_cutout(file.size(), short_side, shown)
                                       : random_cutout(file.size(), shown, key.stream());
      const Box& box = cutout.box;
      request.push_back(
          {{"path", paths[i]},
           {"box",
            epoch == 0 ? json(nullptr) : json{box.left, box.top, box.width, box.height}},
           {"short_side", short_side},
           {"size", {shown.width, shown.height}}});
      digests.push_back(digest_of(resizer.show(file, cutout, Decoding::exact)));
    }
  }
  const json expected = ask_python("loader/torchvision_shows.py", request);
  for (std::size_t i = 0; i < digests.size(); ++i) {
    EXPECT_EQ(digests[i], expected[i]) << request[i];
  }
}

TEST(FileImages, AreShownAsTorchvisionShowsThem) {
  std::vector<std::string> paths;
  for (const auto& [path, fact] : PillowImages::get().facts().items()) {
    paths.push_back(path);
  }
  expect_as_torchvision(paths, 72, {64, 64});
}

TEST(FileImages, AreShownAsTorchvisionShowsThemInAFolderThatTheEnvironmentNames) {
  const char* folder = std::getenv("CONVOY_TEST_IMAGES");
  if (folder == nullptr) GTEST_SKIP() << "CONVOY_TEST_IMAGES names no folder";
  std::vector<std::string> paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) paths.push_back(entry.path());
  }
  expect_as_torchvision(paths, 256, {224, 224});
}

TEST(Cutout, OfTheCentreIsRoundedAsPythonRounds) {
  // (37 - 32) / 2 = 2.5 and (39 - 32) / 2 = 3.5 are rounded to even numbers.
  EXPECT_EQ(centre_cutout({37, 64}, 37, {32, 32}),
            (Cutout{{0, 0, 37, 64}, {37, 64}, {2, 16, 32, 32}}));
  EXPECT_EQ(centre_cutout({500, 375}, 256, {224, 224}),
            (Cutout{{0, 0, 500, 375}, {341, 256}, {58, 16, 224, 224}}));
  EXPECT_EQ(centre_cutout({78, 39}, 39, {32, 32}).window.top, 4);
}

TEST(Cutout, AtRandomHasTheAreasAndRatiosOfTorchvision) {
  constexpr int kCount = 2000;
  double areas = 0;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    const Cutout cutout =
        random_cutout({400, 400}, {224, 224}, AugmentKey{1, 1, i}.stream());
    const Box& box = cutout.box;
    ASSERT_TRUE(box.left >= 0 && box.left + box.width <= 400);
    ASSERT_TRUE(box.top >= 0 && box.top + box.height <= 400);
    const double ratio = static_cast<double>(box.width) / box.height;
    EXPECT_TRUE(ratio > 0.74 && ratio < 1.35) << ratio;
    areas += box.width * box.height / 160000.0;
  }
  // Of a square, boxes with an area near 1 seldom fit.
  EXPECT_NEAR(areas / kCount, 0.5, 0.03);
}

TEST(Cutout, AtRandomFallsBackToTheCentreOfALongImage) {
  const Cutout cutout = random_cutout({1000, 20}, {8, 8}, AugmentKey{1, 1, 1}.stream());

  EXPECT_EQ(cutout.box, (Box{486, 0, 27, 20}));
}

struct FolderOfFiles : testing::Test {
  FolderOfFiles() { folder.add_two_classes(); }

  DataPair open(bool skip = false) const {
    ImageFolderOptions options = folder.options();
    options.skip_damaged = skip;
    return open_image_folder(options);
  }

  const ImageFolder folder;
};

std::vector<float> epoch_of(const Dataset& data, const LoaderOptions& options,
                            std::size_t first_batch = 0) {
  std::vector<std::uint32_t> samples(data.size());
  for (std::uint32_t i = 0; i < samples.size(); ++i) samples[i] = i;
  Loader loader(data, samples, options);
  loader.start_epoch(3, first_batch);
  std::vector<float> numbers;
  while (const Batch* batch = loader.next()) {
    numbers.insert(numbers.end(), batch->images.begin(), batch->images.end());
    numbers.insert(numbers.end(), batch->labels.begin(), batch->labels.end());
  }
  return numbers;
}

TEST_F(FolderOfFiles, IsLoadedAlikeOnAnyThreads) {
  const Dataset train = open().train;
  LoaderOptions options{.batch_size = 3, .augmentation = Augmentation::imagenet};
  options.threads = 1;
  const std::vector<float> one = epoch_of(train, options);
  options.threads = 4;

  EXPECT_EQ(epoch_of(train, options), one);
  EXPECT_EQ(one.size(), 5u * (3 * 32 * 32 + 1));
  const std::vector<float> second_half = epoch_of(train, options, 1);
  EXPECT_TRUE(std::equal(second_half.rbegin(), second_half.rend(), one.rbegin()));
  options.augmentation = Augmentation::imagenet_crop;
  EXPECT_NE(epoch_of(train, options), one);
}

TEST_F(FolderOfFiles, CountsWhatItsThreadsDo) {
  const Dataset train = open().train;
  Loader loader(train, {0, 1, 2, 3, 4}, {.batch_size = 2});
  loader.start_epoch(1);
  while (loader.next() != nullptr) {
  }

  EXPECT_EQ(loader.work().images, 5u);
  EXPECT_GT(loader.work().cpu_seconds, 0);
}

TEST_F(FolderOfFiles, NamesAFileThatCannotBeDecoded) {
  folder.write("train/dog/a.jpeg", "this is text");
  const Dataset train = open().train;
  expect_error(InputKind::data,
               {folder.path("train/dog/a.jpeg").string() + "\n",
                "found:    a file that is neither a JPEG nor a PNG"},
               [&] { epoch_of(train, {.batch_size = 2}); });
}

TEST_F(FolderOfFiles, NamesAFileThatHasVanished) {
  const Dataset train = open().train;
  fs::remove(folder.path("train/cat/c.jpg"));
  expect_error(InputKind::storage, {folder.path("train/cat/c.jpg").string()},
               [&] { epoch_of(train, {.batch_size = 2}); });
}

TEST_F(FolderOfFiles, NamesAFileThatHasVanishedAlsoIfDamagedFilesAreSkipped) {
  const Dataset train = open(/*skip=*/true).train;
  fs::remove(folder.path("train/cat/c.jpg"));
  expect_error(InputKind::storage, {folder.path("train/cat/c.jpg").string()},
               [&] { epoch_of(train, {.batch_size = 2}); });
  EXPECT_EQ(train.files->damaged->count(), 0u);
}

TEST_F(FolderOfFiles, SkipsFilesThatCannotBeDecodedAndNotesThem) {
  folder.write("train/cat/c.jpg", "");
  folder.write("train/dog/a.jpeg", "this is text");
  const Dataset train = open(/*skip=*/true).train;
  Loader loader(train, {2}, {.batch_size = 1});
  loader.start_epoch(0);
  const Batch* batch = loader.next();

  ASSERT_NE(batch, nullptr);
  EXPECT_EQ(batch->labels[0], 1);  // of the next file that can be decoded, dog/b.JPG
  EXPECT_EQ(train.files->damaged->count(), 2u);
  const std::vector<std::string> news = train.files->damaged->take_news();
  ASSERT_EQ(news.size(), 2u);
  EXPECT_THAT(news[0], HasSubstr("train/cat/c.jpg; found:    an empty file"));
  EXPECT_THAT(news[1], HasSubstr("train/dog/a.jpeg"));
  EXPECT_TRUE(train.files->damaged->take_news().empty());
}

TEST_F(FolderOfFiles, DecodesAlmostTheSamePixelsFast) {
  ImageFolderOptions options = folder.options();
  const Dataset exact = open_image_folder(options).train;
  options.decoding = Decoding::fast;
  const Dataset fast = open_image_folder(options).train;
  FileImages of_exact(exact), of_fast(fast);
  constexpr std::size_t kLarge = 4;  // dog/b.JPG, which is reduced by 8
  const auto one = of_exact.show(kLarge, {})->pixels,
             other = of_fast.show(kLarge, {})->pixels;
  double sum = 0;
  for (std::size_t i = 0; i < one.size(); ++i) sum += std::abs(one[i] - other[i]);

  EXPECT_GT(sum, 0);
  EXPECT_LT(sum / static_cast<double>(one.size()), 12);
}

}  // namespace
}  // namespace convoy
