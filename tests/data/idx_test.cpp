// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/idx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "convoy/system/temporary_folder.h"
#include "tests/base/expect_error.h"
#include "tests/data/idx_files.h"

namespace convoy {
namespace {

using testing::ElementsAre;

/// Three images of 2 x 2 and their labels; a test spoils one of the two files.
class Idx : public testing::Test {
 protected:
  Dataset read_idx_file() const {
    return read_idx(images_path, labels_path, {"a", "b", "c"});
  }

  Dataset read_idx_file(const std::string& images, const std::string& labels) const {
    write_atomically(images_path, images);
    write_atomically(labels_path, labels);
    return read_idx_file();
  }

  void expect_idx_refused(const std::string& images, const std::string& labels,
                          const std::filesystem::path& culprit,
                          const std::string& found) const {
    expect_error(InputKind::data, {culprit.string(), found},
                 [&] { read_idx_file(images, labels); });
  }

  TemporaryFolder folder;
  std::filesystem::path images_path = folder.path() / "images";
  std::filesystem::path labels_path = folder.path() / "labels";
  std::string images = idx_images(3, 2, 2);
  std::string labels = idx_labels({2, 0, 1});
};

TEST_F(Idx, ReadsShapePixelsAndLabels) {
  const Dataset data = read_idx_file(images, labels);

  EXPECT_EQ(data.size(), 3u);
  EXPECT_EQ(data.shape, (Shape{1, 2, 2}));
  EXPECT_THAT(data.images.bytes(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  EXPECT_THAT(data.labels, ElementsAre(2, 0, 1));
}

TEST_F(Idx, ReadsGzipAndPlainTheSame) {
  const Dataset plain = read_idx_file(images, labels);
  const Dataset packed = read_idx_file(gzip(images), gzip(labels));

  EXPECT_EQ(packed.images, plain.images);
  EXPECT_EQ(packed.labels, plain.labels);
}

TEST_F(Idx, ReadsGzipInSeveralMembers) {
  const Dataset data =
      read_idx_file(gzip(images.substr(0, 9)) + gzip(images.substr(9)), labels);

  EXPECT_EQ(data.images, read_idx_file(images, labels).images);
}

TEST_F(Idx, RefusesAWrongMagicNumber) {
  expect_idx_refused(labels, labels, images_path, "begins with 0x00000801");
  expect_idx_refused(images, images, labels_path, "begins with 0x00000803");
}

TEST_F(Idx, RefusesAnEmptyFile) {
  expect_idx_refused("", labels, images_path, "an empty file");
  expect_idx_refused(images, "", labels_path, "an empty file");
}

TEST_F(Idx, RefusesAHeaderCutShort) {
  expect_idx_refused(images.substr(0, 3), labels, images_path, "3 bytes");
  expect_idx_refused(images.substr(0, 15), labels, images_path, "15 bytes");
}

TEST_F(Idx, RefusesAFileShorterThanItsHeaderSays) {
  expect_idx_refused(images.substr(0, images.size() - 1), labels, images_path,
                     "11 bytes after the header");
}

TEST_F(Idx, RefusesTrailingBytes) {
  expect_idx_refused(images + "x", labels, images_path, "13 bytes after the header");
  expect_idx_refused(images, labels + "x", labels_path, "4 bytes after the header");
}

TEST_F(Idx, RefusesExtentsWhoseProductWouldOverflow) {
  const std::uint32_t most = 0xffffffff;
  expect_idx_refused(big_endian({0x803, most, most, most}), labels, images_path,
                     "0 bytes after the header");
  // 2^31 x 2^31 x 4 is 0 modulo 2^64.
  expect_idx_refused(big_endian({0x803, 0x80000000, 0x80000000, 4}), labels, images_path,
                     "0 bytes after the header");
}

TEST_F(Idx, RefusesAFileWithoutSamples) {
  expect_idx_refused(idx_images(0, 2, 2), idx_labels({}), images_path, "no samples");
}

TEST_F(Idx, RefusesCountsThatDisagree) {
  expect_idx_refused(images, idx_labels({0, 1}), labels_path, "2 labels");
}

TEST_F(Idx, SaysWhichSampleHasALabelOutOfRange) {
  expect_idx_refused(images, idx_labels({0, 1, 3}), labels_path, "label 3 at sample 2");
}

TEST_F(Idx, RefusesGzipCutShortAnywhere) {
  const std::string packed = gzip(images);
  for (std::size_t size = 2; size < packed.size(); ++size) {
    expect_idx_refused(packed.substr(0, size), labels, images_path, "cut short");
  }
}

TEST_F(Idx, RefusesDamagedGzip) {
  std::string packed = gzip(images);
  packed[packed.size() - 6] ^= 1;  // in the checksum
  expect_idx_refused(packed, labels, images_path,
                     "damaged gzip data (incorrect data check)");

  std::string broken = gzip(images);
  broken[10] = '\xff';  // the first block's kind
  expect_idx_refused(broken, labels, images_path, "damaged gzip data");
}

TEST_F(Idx, RefusesGarbageAfterGzip) {
  expect_idx_refused(gzip(images) + "abc", labels, images_path, "3 bytes too many");
}

/// The end of the file is damaged, which nobody sees who stops where the header says.
TEST_F(Idx, UnpacksNoMoreThanTheHeaderSays) {
  std::string bomb = gzip(images + std::string(1 << 20, '\0'));
  bomb[bomb.size() - 6] ^= 1;

  expect_idx_refused(bomb, labels, images_path, "13 bytes after the header or more");
}

TEST_F(Idx, UnpacksNothingThatMemoryCannotHold) {
  const std::uint32_t most = 0xffffffff;
  write_atomically(images_path, gzip(big_endian({0x803, most, most, most})));
  write_atomically(labels_path, labels);

  expect_error(InputKind::storage, {images_path.string(), "the free memory"},
               [&] { read_idx_file(); });
}

TEST_F(Idx, RefusesAGzipShorterThanItsHeaderSays) {
  expect_idx_refused(gzip(images.substr(0, images.size() - 1)), labels, images_path,
                     "11 bytes after the header\n");
}

TEST_F(Idx, NamesAMissingFile) {
  expect_error(InputKind::storage, {images_path.string(), "No such file"},
               [&] { read_idx_file(); });
}

}  // namespace
}  // namespace convoy
