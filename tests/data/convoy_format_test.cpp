// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/convoy_format.h"

#include <gtest/gtest.h>

#include "convoy/system/temporary_folder.h"
#include "tests/base/expect_error.h"
#include "tests/data/colour_files.h"

namespace convoy {
namespace {

const std::vector<std::string> kClasses{"a", "b", "c"};

class Compact : public testing::Test {
 protected:
  Compact() {
    data.name = "small";
    data.classes = kClasses;
    write_convoy_format(path, data);
    whole = read_text(path);
  }

  Dataset read_convoy_format_file() const {
    return read_convoy_format(path, "small", kClasses);
  }

  void expect_convoy_format_refused(const std::string& content, const std::string& found,
                                    const std::string& expected) const {
    write_atomically(path, content);
    expect_error(
        InputKind::data,
        {path.string() + "\n", "found:    " + found, "expected: " + expected, "hint:"},
        [&] { read_convoy_format_file(); });
  }

  /// The file with bytes replaced.
  std::string with(std::size_t at, const std::string& bytes) const {
    std::string changed = whole;
    return changed.replace(at, bytes.size(), bytes);
  }

  TemporaryFolder folder;
  std::filesystem::path path = folder.path() / "train.convoy";
  Dataset data = colour_samples({2, 0, 1, 1});
  std::string whole;
};

TEST_F(Compact, IsReadAsItWasWritten) {
  const Dataset found = read_convoy_format_file();

  EXPECT_EQ(found.name, "small");
  EXPECT_EQ(found.shape, kColourShape);
  EXPECT_EQ(found.classes, kClasses);
  EXPECT_EQ(found.labels, data.labels);
  EXPECT_EQ(found.images, data.images);
  EXPECT_EQ(whole.size(), compact_bytes(kColourShape, 4));
}

TEST_F(Compact, OutlivesItsFile) {
  const Dataset found = read_convoy_format_file();
  std::filesystem::remove(path);
  const Dataset copy = found;

  EXPECT_EQ(copy.images, data.images);
}

TEST_F(Compact, RefusesAFileOfAnotherKind) {
  const std::string expected = "a dataset file of convoy, of version 1 or 2";
  expect_convoy_format_refused("", "an empty file", expected);
  expect_convoy_format_refused("a page that says 404", "a file of another kind",
                               expected);
  expect_convoy_format_refused(with(8, std::string("\x03\0\0\0", 4)), "version 3",
                               expected);
}

TEST_F(Compact, RefusesAFileCutShortOrTooLong) {
  const std::string expected = "4 labels and as many images of 3 x 32 x 32";
  expect_convoy_format_refused(whole.substr(0, 100), "100 bytes",
                               "a header of 256 bytes");
  expect_convoy_format_refused(whole.substr(0, 256), "0 bytes after the header",
                               expected);
  expect_convoy_format_refused(whole.substr(0, whole.size() - 1),
                               "12,291 bytes after the header", expected);
  expect_convoy_format_refused(whole + "x", "12,293 bytes after the header", expected);
}

TEST_F(Compact, RefusesAHeaderThatSaysHugeThings) {
  expect_convoy_format_refused(with(12, "\xff\xff\xff\xff"), "an extent of 4294967295",
                               "extents from 1 to 65536");
  expect_convoy_format_refused(with(16, std::string(4, '\0')), "an extent of 0",
                               "extents from 1 to 65536");
  expect_convoy_format_refused(with(32, std::string(8, '\xff')),
                               "12,292 bytes after the header",
                               "18,446,744,073,709,551,615 labels");
  expect_convoy_format_refused(with(32, std::string(8, '\0')), "no samples",
                               "at least one");
}

TEST_F(Compact, RefusesAnotherDataset) {
  expect_error(InputKind::data,
               {path.string(), "samples of small", "samples of cifar10", "data=small"},
               [&] { read_convoy_format(path, "cifar10", kClasses); });
  expect_error(InputKind::data, {path.string(), "3 classes", "the 2 classes of small"},
               [&] {
                 read_convoy_format(path, "small", {"a", "b"});
               });
}

TEST_F(Compact, SaysWhichSampleHasALabelOutOfRange) {
  write_atomically(path, with(258, "\x09"));

  expect_error(InputKind::data,
               {path.string(), "label 9 at sample 2", "labels from 0 to 2"},
               [&] { read_convoy_format_file(); });
}

TEST_F(Compact, TellsDamageByItsDigest) {
  EXPECT_NO_THROW(verify_convoy_format(path, "a hint"));
  write_atomically(path, with(whole.size() - 1, "!"));
  EXPECT_NO_THROW(read_convoy_format_file());

  expect_error(InputKind::data,
               {path.string(), "content with SHA-256 ", "that its header says", "a hint"},
               [&] { verify_convoy_format(path, "a hint"); });
}

TEST_F(Compact, NamesAMissingFile) {
  std::filesystem::remove(path);

  expect_error(InputKind::storage, {path.string(), "No such file"},
               [&] { read_convoy_format_file(); });
}

TEST_F(Compact, HasOneByteForEachLabelOfFewClassesAsItAlwaysHad) {
  EXPECT_EQ(whole.substr(8, 4), std::string("\1\0\0\0", 4));
  EXPECT_EQ(whole.substr(256, 4), std::string("\2\0\1\1", 4));
}

TEST_F(Compact, HasFourBytesForEachLabelOfManyClasses) {
  const std::vector<std::string> classes(300, "a class");
  data.classes = classes;
  data.labels = {2, 299, 1, 0};
  data.name = "many";
  write_convoy_format(path, data);
  whole = read_text(path);

  EXPECT_EQ(whole.substr(8, 4), std::string("\2\0\0\0", 4));
  EXPECT_EQ(whole.size(), 256 + 4 * (4 + kColourShape.size()));
  EXPECT_EQ(read_convoy_format(path, "many", classes).labels, data.labels);
  EXPECT_EQ(read_convoy_format(path, "many", classes).images, data.images);
  EXPECT_NO_THROW(verify_convoy_format(path, "a hint"));

  write_atomically(path, with(8, std::string("\1\0\0\0", 4)));
  expect_error(InputKind::data, {"version 1 with 300 classes", "version 2"},
               [&] { read_convoy_format(path, "many", classes); });
}

}  // namespace
}  // namespace convoy
