// SPDX-License-Identifier: Apache-2.0
//
// Datasets that are damaged, missing or interrupted on their way.

#include <algorithm>
#include <functional>

#include "tests/apps/small_run.h"
#include "tests/data/idx_files.h"
#include "tests/http/http_server.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

const fs::path kFashionMnist = "/usr/share/datasets/fashion-mnist";

/// Twenty training and ten test images under MNIST's file names, in a folder beside the
/// one in which the program runs.
class SmallDataset : public ProgramTest {
 protected:
  CommandResult train_on_it() const {
    return convoy({"train", "data=mnist", "data.root=" + data_.path().string(),
                   "train.batch_size=10", "train.epochs=1", "run.name=a"});
  }

  void write(bool packed) const { files_.write(data_.path(), packed); }

  fs::path file(const std::string& name) const { return data_.path() / name; }

 private:
  TemporaryFolder data_;
  SmallFiles files_{20, 10};
};

TEST_F(SmallDataset, TrainsIfItIsWhole) {
  for (const bool packed : {false, true}) {
    write(packed);
    EXPECT_EQ(train_on_it().code, 0);
    fs::remove_all(here() / "runs");
  }
}

struct Damage {
  std::string name;
  std::string file;
  std::function<void(const fs::path&)> damage;
  std::string found;
};

void replace(const fs::path& path, const std::string& content) {
  write_atomically(path, content);
}

void flip_middle(const fs::path& path) {
  std::string content = read_text(path);
  content[content.size() / 2] ^= 0x55;
  replace(path, content);
}

class DamagedDataset : public SmallDataset, public testing::WithParamInterface<Damage> {};

TEST_P(DamagedDataset, IsRefusedBeforeAnythingIsWritten) {
  const Damage& damage = GetParam();
  write(/*packed=*/damage.file.ends_with(".gz"));
  damage.damage(file(damage.file));

  expect_refused(train_on_it(), 65,
                 {file(damage.file).string(), "found:    " + damage.found});
  expect_nothing_written();
}

INSTANTIATE_TEST_SUITE_P(
    Files, DamagedDataset,
    testing::Values(
        Damage{
            "TruncatedGzip", "train-images-idx3-ubyte.gz",
            [](const fs::path& path) { fs::resize_file(path, fs::file_size(path) / 2); },
            ""},
        Damage{"CorruptGzip", "t10k-images-idx3-ubyte.gz", flip_middle, ""},
        Damage{"NoGzipAtAll", "train-labels-idx1-ubyte.gz",
               [](const fs::path& path) { replace(path, "a page that says 404"); }, ""},
        Damage{"WrongMagicNumber", "train-images-idx3-ubyte",
               [](const fs::path& path) {
                 replace(path, big_endian({0x802, 20, 28, 28}) +
                                   idx_images(20, 28, 28).substr(16));
               },
               "a file that begins with 0x00000802"},
        Damage{"LabelsInPlaceOfImages", "t10k-images-idx3-ubyte",
               [](const fs::path& path) {
                 replace(path, idx_labels({1, 2, 3}));
               },
               "a file that begins with 0x00000801"},
        Damage{"CountsThatDisagree", "train-labels-idx1-ubyte",
               [](const fs::path& path) {
                 replace(path, idx_labels({1, 2, 3}));
               },
               "3 labels"},
        Damage{"LabelOutOfRange", "t10k-labels-idx1-ubyte",
               [](const fs::path& path) {
                 replace(path, idx_labels({0, 1, 2, 3, 4, 5, 6, 7, 8, 10}));
               },
               "label 10 at sample 9"},
        Damage{
            "HeaderThatPromisesMore", "train-images-idx3-ubyte",
            [](const fs::path& path) { fs::resize_file(path, fs::file_size(path) - 1); },
            "15,679 bytes after the header"},
        Damage{"EmptyFile", "t10k-images-idx3-ubyte",
               [](const fs::path& path) { replace(path, ""); }, "an empty file"}),
    [](const auto& info) { return info.param.name; });

class MissingDataset : public ProgramTest {};

TEST_F(MissingDataset, IsRefusedWithHowToGetIt) {
  expect_refused(convoy({"train", "data=mnist", "data.root=nowhere"}), 74,
                 {"nowhere", "no such folder", "hint:", "convoy data get mnist"});
  expect_nothing_written();
}

TEST_F(MissingDataset, IsRefusedWithWhereItWasLookedFor) {
  expect_refused(
      convoy({"train", "data=mnist"}, {.environment = {{"CONVOY_DATA", "/nowhere"}}}), 74,
      {"dataset mnist", "/nowhere/mnist", "hint:"});
  expect_nothing_written();
}

/// `convoy data get` of Fashion-MNIST into `target`, from Debian's copy.
class DataGet : public ProgramTest {
 protected:
  Arguments get(const fs::path& from) const {
    return {"data",        "get",  "fashion_mnist", "--from",
            from.string(), "--to", target.string()};
  }

  fs::path target = here() / "target";
};

TEST_F(DataGet, LeavesNothingThatCountsWhenKilledAndWorksTheNextTime) {
  ProcessOptions stalled;  // at the third file
  stalled.environment = {{"LD_PRELOAD", FAILING_WRITES}, {"STALL_PATH", "t10k-images"}};
  ConvoyProcess process(get(kFashionMnist), here(), stalled);
  ASSERT_TRUE(process.wait_until([&] {
    return std::ranges::any_of(all_below(here()), [](const std::string& path) {
      return path.ends_with("/train-labels-idx1-ubyte");
    });
  })) << process.err();
  process.send(SIGKILL);
  EXPECT_EQ(process.wait().signal, SIGKILL);

  EXPECT_FALSE(fs::exists(target));
  expect_refused(convoy({"data", "check", "fashion_mnist", "--root", target.string()}),
                 74, {target.string()});
  const CommandResult again = convoy(get(kFashionMnist));
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr(target.string()));
  EXPECT_EQ(convoy({"data", "check", "fashion_mnist", "--root", target.string()}).code,
            0);
  std::vector<std::string> left;
  for (const auto& entry : fs::directory_iterator(here())) {
    left.push_back(entry.path().filename().string());
  }
  EXPECT_THAT(left, UnorderedElementsAre("target", ".target.lock"));
}

TEST_F(DataGet, RefusesFilesOfAnotherContent) {
  const TemporaryFolder other;
  SmallFiles(20, 10).write(other.path());

  expect_refused(convoy(get(other.path())), 65,
                 {(other.path() / "train-images-idx3-ubyte").string()});
  EXPECT_FALSE(fs::exists(target));
}

TEST_F(DataGet, RefusesAnAddressThatCannotBeReached) {
  std::string url;
  { url = HttpServer(here()).url(); }  // where nobody listens any more

  expect_refused(convoy(get(url), {.environment = {{"no_proxy", "127.0.0.1"}}}), 74,
                 {url});
  EXPECT_FALSE(fs::exists(target));
}

TEST_F(DataGet, RefusesAnUnknownDatasetWithTheNearest) {
  expect_refused(convoy({"data", "get", "mnits"}), 78, {"mnits", "mnist"});
  expect_nothing_written();
}

}  // namespace
}  // namespace convoy
