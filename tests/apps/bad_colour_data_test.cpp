// SPDX-License-Identifier: Apache-2.0
//
// CIFAR and SVHN, whole and damaged, as the program meets them.

#include "convoy/data/convoy_format.h"
#include "tests/apps/small_run.h"
#include "tests/data/colour_files.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

/// A folder of data files beside the one in which the program runs.
class ColourFiles : public ProgramTest {
 protected:
  CommandResult train_on(const std::string& name) const {
    return convoy({"train", "model=mlp6", "data=" + name,
                   "data.root=" + data_.path().string(), "train.batch_size=10",
                   "train.epochs=1", "run.name=a"});
  }

  void write(const std::string& name, const std::string& content) const {
    write_atomically(file(name), content);
  }

  fs::path file(const std::string& name) const { return data_.path() / name; }

  void write_svhn() const {
    write("train_32x32.mat", mat_file(samples));
    write("extra_32x32.mat", mat_file(samples));
    write("test_32x32.mat", mat_file(samples));
  }

  void write_compact_cifar10() {
    samples.name = "cifar10";
    samples.classes.resize(10);
    write_convoy_format(file("train.convoy"), samples);
    write_convoy_format(file("test.convoy"), samples);
  }

  void expect_train_refused(const std::string& data, const std::string& bad_file,
                            const std::string& found) const {
    expect_refused(train_on(data), 65,
                   {file(bad_file).string(), "found:    " + found, "expected: "});
    expect_nothing_written();
  }

  Dataset samples = colour_samples({0, 1, 2, 3, 4, 5, 6, 7, 8, 9});

 private:
  TemporaryFolder data_;
};

TEST_F(ColourFiles, OfMatlabAreTrainedOn) {
  write_svhn();
  EXPECT_EQ(train_on("svhn").code, 0);
  EXPECT_EQ(read_json(here() / "runs/a/summary.json").at("steps"), 2)
      << "train and extra are one training set";
}

TEST_F(ColourFiles, OfTheCompactFormAreTrainedOn) {
  write_compact_cifar10();
  EXPECT_EQ(train_on("cifar10").code, 0);
}

TEST_F(ColourFiles, RefuseWhatIsNoMatlabFile) {
  write_svhn();
  write("test_32x32.mat", "a page that says 404");
  expect_train_refused("svhn", "test_32x32.mat", "another kind of file");
}

TEST_F(ColourFiles, RefuseAMatlabFileCutShort) {
  write_svhn();
  fs::resize_file(file("extra_32x32.mat"), fs::file_size(file("extra_32x32.mat")) / 2);
  expect_train_refused("svhn", "extra_32x32.mat", "");
}

TEST_F(ColourFiles, NameAMissingOne) {
  write_svhn();
  fs::remove(file("extra_32x32.mat"));
  expect_refused(train_on("svhn"), 74,
                 {file("extra_32x32.mat").string(), "no such file"});
  expect_nothing_written();
}

TEST_F(ColourFiles, RefuseAShortBinaryFile) {
  write("data_batch_1.bin", cifar_file(samples));
  expect_train_refused("cifar10", "data_batch_1.bin", "30,730 bytes");
}

TEST_F(ColourFiles, RefuseADamagedPng) {
  std::string damaged = sheet_file(samples);
  damaged[damaged.size() / 2] ^= 0x55;
  write("data_batch_1.png", damaged);
  write("train_lables.json", labels_json(samples));
  expect_train_refused("cifar10", "data_batch_1.png", "a damaged PNG at row ");
}

TEST_F(ColourFiles, RefuseTheCompactFormOfAnotherDataset) {
  write_compact_cifar10();
  expect_train_refused("svhn", "train.convoy", "samples of cifar10");
}

TEST_F(ColourFiles, RefuseACompactFormWhoseLabelsAreDamaged) {
  write_compact_cifar10();
  std::string damaged = read_text(file("train.convoy"));
  damaged[256] = 10;
  write("train.convoy", damaged);
  expect_train_refused("cifar10", "train.convoy", "label 10 at sample 0");
}

TEST_F(ColourFiles, AreNotTakenForThePublishedOnes) {
  write_svhn();
  const fs::path target = here() / "svhn";

  expect_refused(convoy({"data", "get", "svhn", "--from", file("").string(), "--to",
                         target.string()}),
                 65, {file("train_32x32.mat").string(), "the 182,040,794 bytes"});
  EXPECT_FALSE(fs::exists(target));
  expect_refused(convoy({"data", "check", "svhn", "--root", file("").string()}), 65,
                 {file("train_32x32.mat").string(), "the 182,040,794 bytes"});
}

}  // namespace
}  // namespace convoy
