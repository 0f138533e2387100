// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/cifar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convoy/system/temporary_folder.h"
#include "tests/base/expect_error.h"
#include "tests/data/colour_files.h"
#include "tests/data/idx_files.h"

namespace convoy {
namespace {

using testing::ElementsAre;

const std::vector<std::string> kCifarClasses{"a", "b", "c"};

/// Two files, of two samples and of one.
class Cifar : public testing::Test {
 protected:
  void write_cifar(const std::string& name, const std::string& content) const {
    write_atomically(folder.path() / name, content);
  }

  void write_both() const {
    write_cifar("one", cifar_file(first));
    write_cifar("two", cifar_file(second));
  }

  Dataset read_cifar_file() const {
    return read_cifar(folder.path(), files, 1, kCifarClasses);
  }

  void expect_cifar_refused(const std::string& file, const std::string& content,
                            const std::string& found, const std::string& expected) const {
    write_both();
    write_cifar(file, content);
    expect_error(InputKind::data,
                 {(folder.path() / file).string() + "\n", "found:    " + found,
                  "expected: " + expected},
                 [&] { read_cifar_file(); });
  }

  TemporaryFolder folder;
  Dataset first = colour_samples({2, 0});
  Dataset second = colour_samples({1}, 99);
  std::vector<DataFile> files{{"one", 2 * 3073}, {"two", 3073}};
};

TEST_F(Cifar, ReadsFilesOneAfterTheOther) {
  write_both();
  const Dataset data = read_cifar_file();

  EXPECT_EQ(data.shape, kColourShape);
  EXPECT_THAT(data.labels, ElementsAre(2, 0, 1));
  EXPECT_EQ(text_of(data.images.bytes()),
            text_of(first.images.bytes()) + text_of(second.images.bytes()));
}

TEST_F(Cifar, ReadsGzipFiles) {
  write_cifar("one.gz", gzip(cifar_file(first)));
  write_cifar("two", cifar_file(second));

  EXPECT_EQ(text_of(read_cifar_file().images.bytes()),
            text_of(first.images.bytes()) + text_of(second.images.bytes()));
}

TEST_F(Cifar, TakesTheFineLabelOfTwo) {
  write_cifar("one", cifar_file(first, "\x13"));
  const Dataset data = read_cifar(folder.path(), {{"one", 2 * 3074}}, 2, kCifarClasses);

  EXPECT_THAT(data.labels, ElementsAre(2, 0));
  EXPECT_EQ(data.images, first.images);
}

TEST_F(Cifar, RefusesAFileOfAnotherSize) {
  const std::string whole = cifar_file(first);
  const std::string expected = "6,146 bytes: 2 records of 3,073";
  expect_cifar_refused("one", "", "0 bytes", expected);
  expect_cifar_refused("one", whole.substr(0, 6000), "6,000 bytes", expected);
  expect_cifar_refused("one", whole.substr(0, 3073), "3,073 bytes", expected);
  expect_cifar_refused("one", whole + "x", "6,147 bytes", expected);
}

TEST_F(Cifar, SaysWhichSampleHasALabelOutOfRange) {
  expect_cifar_refused("one", cifar_file(colour_samples({2, 3})), "label 3 at sample 1",
                       "labels from 0 to 2");
  expect_cifar_refused("two", cifar_file(colour_samples({255})), "label 255 at sample 0",
                       "labels from 0 to 2");
}

TEST_F(Cifar, NamesAMissingFile) {
  write_cifar("one", cifar_file(first));

  expect_error(InputKind::storage,
               {(folder.path() / "two").string(), "no such file", "plain or .gz"},
               [&] { read_cifar_file(); });
}

}  // namespace
}  // namespace convoy
