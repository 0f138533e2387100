// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/png_sprites.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convoy/system/temporary_folder.h"
#include "tests/base/expect_error.h"
#include "tests/data/colour_files.h"

namespace convoy {
namespace {

using testing::ElementsAre;

/// Two sheets, of two images and of one, and the labels of all three.
class Sheets : public testing::Test {
 protected:
  void write_sprites(const std::string& name, const std::string& content) const {
    write_atomically(folder.path() / name, content);
  }

  void write_all() const {
    write_sprites("one.png", sheet_file(first));
    write_sprites("two.png", sheet_file(second));
    write_sprites("labels.json", "[2, 0, 1]");
  }

  Dataset read_png_sprites_file() const {
    return read_png_sprites(folder.path(),
                            {{"one.png", 0}, {"two.png", 0}, {"labels.json", 0}},
                            {"a", "b", "c"});
  }

  void expect_png_sprites_refused(const std::string& file, const std::string& content,
                                  const std::string& found,
                                  const std::string& expected) const {
    write_all();
    write_sprites(file, content);
    expect_error(InputKind::data,
                 {(folder.path() / file).string() + "\n", "found:    " + found, expected},
                 [&] { read_png_sprites_file(); });
  }

  TemporaryFolder folder;
  Dataset first = colour_samples({2, 0});
  Dataset second = colour_samples({1}, 99);
};

constexpr const char* kWholePng = "a complete PNG file of 8-bit RGB, not interlaced";

TEST_F(Sheets, ReadsRowsAsImages) {
  write_all();
  const Dataset data = read_png_sprites_file();

  EXPECT_EQ(data.shape, kColourShape);
  EXPECT_THAT(data.labels, ElementsAre(2, 0, 1));
  EXPECT_EQ(text_of(data.images.bytes()),
            text_of(first.images.bytes()) + text_of(second.images.bytes()));
}

TEST_F(Sheets, RefusesWhatIsNoPng) {
  expect_png_sprites_refused("two.png", "", "an empty file", kWholePng);
  expect_png_sprites_refused("two.png", "a page that says 404",
                             "a file that is not a PNG", kWholePng);
}

TEST_F(Sheets, RefusesAPngCutShortAnywhere) {
  const std::string whole = sheet_file(first);
  for (std::size_t size = 8; size < whole.size(); size += 41) {
    expect_png_sprites_refused("one.png", whole.substr(0, size), "a ", kWholePng);
  }
}

TEST_F(Sheets, SaysAtWhichRowAPngIsDamaged) {
  std::string damaged = sheet_file(first);
  damaged[damaged.size() / 2] ^= 0x55;
  expect_png_sprites_refused("one.png", damaged, "a damaged PNG at row ", kWholePng);
}

TEST_F(Sheets, RefusesAPngOfAnotherKind) {
  const std::string grey = png_file({std::string(1024, 'x')}, 1024, PNG_COLOR_TYPE_GRAY);
  expect_png_sprites_refused("two.png", grey, "a PNG of colour type 0, 8 bits",
                             kWholePng);
}

TEST_F(Sheets, RefusesRowsOfAnotherLength) {
  const std::string narrow = png_file({std::string(3 * 1000, 'x')}, 1000);
  expect_png_sprites_refused("two.png", narrow, "1,000 pixels per row",
                             "1,024 pixels per row");
}

TEST_F(Sheets, RefusesMoreRowsThanThereAreLabels) {
  expect_png_sprites_refused("two.png", sheet_file(first), "2 rows", "at most 1");
}

TEST_F(Sheets, RefusesMoreLabelsThanThereAreRows) {
  expect_png_sprites_refused("labels.json", "[0, 1, 2, 0]", "4 labels", "3 labels");
}

TEST_F(Sheets, RefusesLabelsThatAreNone) {
  for (const std::string label : {"3", "-1", "1.5", "\"1\"", "[1]"}) {
    expect_png_sprites_refused("labels.json", "[0, " + label + ", 2]",
                               "label " + label + " at sample 1", "labels from 0 to 2");
  }
  expect_png_sprites_refused("labels.json", "[]", "no labels", "at least one label");
}

TEST_F(Sheets, RefusesLabelsThatAreNoList) {
  expect_png_sprites_refused("labels.json", "[0, 1", "invalid JSON at byte 6",
                             "a JSON list of labels");
  expect_png_sprites_refused("labels.json", "{}", "JSON that is not a list",
                             "a JSON list of labels");
  const std::string nested = std::string(200'000, '[') + std::string(200'000, ']');
  expect_png_sprites_refused("labels.json", nested,
                             "JSON nested more than 64 levels deep",
                             "a JSON list of labels");
}

}  // namespace
}  // namespace convoy
