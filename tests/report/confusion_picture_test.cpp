// SPDX-License-Identifier: Apache-2.0

#include "convoy/report/confusion_picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/report/png_pixels.h"

namespace convoy {
namespace {

ConfusionMatrix matrix_of(int classes) {
  std::vector<std::string> names;
  for (int i = 0; i < classes; ++i) names.push_back("class-" + std::to_string(i));
  ConfusionMatrix matrix(names);
  for (int i = 0; i < classes; ++i) matrix.add(i, i, 90), matrix.add(i, 0, 10);
  return matrix;
}

PngPixels picture_of(const ConfusionMatrix& matrix, const std::string& title = "test") {
  return PngPixels(confusion_png(matrix, title));
}

TEST(ConfusionPicture, IsAPngAtEverySize) {
  for (const int classes : {0, 1, 2, 10, 12, 13, 30, 31, 100, 1000}) {
    const PngPixels picture = picture_of(matrix_of(classes));

    EXPECT_GE(picture.width(), 400) << classes;
    EXPECT_GT(picture.height(), 100) << classes;
    EXPECT_LT(picture.width() * picture.height(), 12'000'000) << classes;
  }
}

TEST(ConfusionPicture, IsDarkWhereSamplesAre) {
  ConfusionMatrix matrix(std::vector<std::string>(31, "x"));  // too many for counts
  for (int truth = 0; truth < 31; ++truth) matrix.add(truth, 30 - truth);
  const PngPixels picture = picture_of(matrix);

  // The cells are the only dark squares: as many pixels as a diagonal has.
  constexpr int kCell = 12;
  const int dark =
      picture.count([](Pixel p) { return p.blue > p.red + 60 && p.red < 20; });
  EXPECT_GE(dark, 31 * kCell * kCell);
  EXPECT_LE(dark, 31 * kCell * kCell + 14 * 240) << "and the legend";
}

TEST(ConfusionPicture, IsPaleForAFewMistakes) {
  ConfusionMatrix right({"a", "b"}), wrong({"a", "b"});
  right.add(0, 0, 100);
  wrong.add(0, 0, 97);
  wrong.add(0, 1, 3);
  const auto is_tinted = [](Pixel p) { return p.blue > p.red + 10 && p.red > 200; };

  EXPECT_GT(picture_of(wrong).count(is_tinted),
            picture_of(right).count(is_tinted) + 2000);
}

TEST(ConfusionPicture, ShowsTitleNamesAndCounts) {
  const auto is_ink = [](Pixel p) { return p.red < 100 && p.blue < 100; };
  const ConfusionMatrix unnamed(std::vector<std::string>(4, " "));
  const ConfusionMatrix named({"shirt", "coat", "bag", "boot"});
  ConfusionMatrix counted = named;
  counted.add(0, 1, 1);
  counted.add(0, 2, 9);

  const int bare = picture_of(unnamed, "").count(is_ink);
  const int titled = picture_of(unnamed, "LeNet-5 on MNIST").count(is_ink);
  const int with_names = picture_of(named, "").count(is_ink);

  EXPECT_GT(titled, bare + 300);
  EXPECT_GT(with_names, bare + 300);
  EXPECT_GT(picture_of(counted, "").count(is_ink), with_names + 5);
}

TEST(ConfusionPicture, CutsLongNames) {
  const int short_width = picture_of(ConfusionMatrix({std::string(40, 'x')})).width();

  EXPECT_EQ(picture_of(ConfusionMatrix({std::string(5000, 'x')})).width(), short_width);
}

TEST(ConfusionPicture, CopesWithAnyNamesAndTitles) {
  const ConfusionMatrix matrix({"<b>&\"'", "猫", "\x01\xFF", ""});

  EXPECT_GT(picture_of(matrix, "\xC3(" + std::string(9000, 'w')).width(), 400);
}

}  // namespace
}  // namespace convoy
