// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/matlab.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "convoy/system/temporary_folder.h"
#include "tests/base/expect_error.h"
#include "tests/data/colour_files.h"

namespace convoy {
namespace {

using testing::ElementsAre;

const std::vector<std::string> kDigits{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};

class Matlab : public testing::Test {
 protected:
  Dataset read_matlab_file(const std::vector<DataFile>& files = {{"a.mat", 0}}) const {
    return read_matlab(folder.path(), files, kDigits);
  }

  void expect_matlab_refused(const std::string& place, const std::string& found,
                             const std::string& expected) const {
    expect_error(
        InputKind::data,
        {path.string() + place + "\n", "found:    " + found, "expected: " + expected},
        [&] { read_matlab_file(); });
  }

  void expect_variables_refused(const std::vector<MatVariable>& variables,
                                const std::string& place, const std::string& found,
                                const std::string& expected) const {
    write_mat(path, variables);
    expect_matlab_refused(place, found, expected);
  }

  TemporaryFolder folder;
  std::filesystem::path path = folder.path() / "a.mat";
  Dataset data = colour_samples({7, 0, 9});
};

TEST_F(Matlab, ReadsPackedAndPlainVariables) {
  for (const auto compression : {MAT_COMPRESSION_ZLIB, MAT_COMPRESSION_NONE}) {
    write_atomically(path, mat_file(data, compression));
    const Dataset found = read_matlab_file();

    EXPECT_EQ(found.shape, kColourShape);
    EXPECT_EQ(found.labels, data.labels) << "10 stands for 0";
    EXPECT_EQ(found.images, data.images);
  }
}

TEST_F(Matlab, ReadsFilesOneAfterTheOther) {
  const Dataset more = colour_samples({1, 2}, 77);
  write_atomically(path, mat_file(data));
  write_atomically(folder.path() / "b.mat", mat_file(more));
  const Dataset found = read_matlab_file({{"a.mat", 0}, {"b.mat", 0}});

  EXPECT_THAT(found.labels, ElementsAre(7, 0, 9, 1, 2));
  EXPECT_EQ(text_of(found.images.bytes()),
            text_of(data.images.bytes()) + text_of(more.images.bytes()));
}

TEST_F(Matlab, RefusesWhatIsNoMatlabFile) {
  const std::string expected = "a MATLAB 5 file (it begins with \"MATLAB 5.0 MAT-file\")";
  write_atomically(path, "");
  expect_matlab_refused("", "an empty file", expected);
  write_atomically(path, "a page that says 404");
  expect_matlab_refused("", "another kind of file", expected);
  write_atomically(path, "MATLAB 7.3 MAT-file, which is HDF5" + std::string(500, ' '));
  expect_matlab_refused("", "another kind of file", expected);
}

TEST_F(Matlab, RefusesAnotherOrderOfBytes) {
  std::string swapped = mat_file(data);
  swapped.replace(126, 2, "MI");
  write_atomically(path, swapped);

  expect_matlab_refused("", "another byte order",
                        "a complete MATLAB 5 file, little-endian");
}

TEST_F(Matlab, RefusesAFileCutShortAnywhere) {
  for (const auto compression : {MAT_COMPRESSION_ZLIB, MAT_COMPRESSION_NONE}) {
    const std::string whole = mat_file(data, compression);
    for (std::size_t size = 20; size < whole.size() - 8; size += whole.size() / 97) {
      write_atomically(path, whole.substr(0, size));
      expect_error(InputKind::data, {path.string()}, [&] { read_matlab_file(); });
    }
  }
}

TEST_F(Matlab, RefusesDamageAnywhereInItsPackedImages) {
  std::minstd_rand random(1);
  std::vector<std::uint8_t> noise(data.images.size());
  for (std::uint8_t& pixel : noise) pixel = static_cast<std::uint8_t>(random() >> 8);
  const std::string whole =
      mat_file({.shape = kColourShape, .images = noise, .labels = data.labels});
  for (std::size_t at = 200; at < noise.size(); at += 997) {
    std::string damaged = whole;
    damaged[at] ^= 0x10;
    write_atomically(path, damaged);
    expect_error(InputKind::data, {path.string(), "a damaged variable after byte 128"},
                 [&] { read_matlab_file(); });
  }
}

TEST_F(Matlab, RefusesAFileThatLacksAVariable) {
  const std::string expected = "the variables X and y";
  expect_variables_refused({mat_labels(data)}, ": X", "no such variable", expected);
  expect_variables_refused({mat_images(data)}, ": y", "no such variable", expected);
}

TEST_F(Matlab, RefusesVariablesOfAnotherForm) {
  MatVariable wide = mat_images(data);
  wide.extents = {16, 64, 3, 3};
  expect_variables_refused({wide, mat_labels(data)}, ": X", "16 x 64 x 3 x 3",
                           "32 x 32 x 3 x count bytes");
  MatVariable row = mat_labels(data);
  row.extents = {1, 3};
  expect_variables_refused({mat_images(data), row}, ": y", "1 x 3", "count x 1 numbers");
}

TEST_F(Matlab, RefusesCountsThatDisagree) {
  expect_variables_refused({mat_images(data), mat_labels(colour_samples({1}))}, ": y",
                           "1 labels", "3 labels, one for each image of X");
}

TEST_F(Matlab, SaysWhichSampleHasALabelOutOfRange) {
  MatVariable labels = mat_labels(data);
  for (const std::uint8_t wrong : {0, 11}) {
    labels.bytes[2] = wrong;
    expect_variables_refused({mat_images(data), labels}, ": y",
                             "label " + std::to_string(wrong) + " at sample 2",
                             "labels from 1 to 10, which stands for 0");
  }
}

TEST_F(Matlab, RefusesExtentsThatTheFileCannotHold) {
  std::string file = mat_file(data, MAT_COMPRESSION_NONE);
  const std::string extents{32, 0, 0, 0, 32, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0};
  const std::size_t at = file.find(extents);
  ASSERT_NE(at, std::string::npos);
  file.replace(at + 12, 4, "\xff\xff\xff\x7f");
  write_atomically(path, file);

  expect_error(InputKind::data, {path.string()}, [&] { read_matlab_file(); });
}

}  // namespace
}  // namespace convoy
