// SPDX-License-Identifier: Apache-2.0
//
// Datasets that come in several forms: each is found, read, verified, and made compact.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "convoy/acquire/get.h"
#include "convoy/data/catalog.h"
#include "convoy/data/statistics.h"
#include "convoy/data/verify.h"
#include "tests/base/expect_error.h"
#include "tests/data/colour_files.h"
#include "tests/data/user_environment.h"
#include "tests/http/http_server.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using testing::UnorderedElementsAre;

/// Samples 0, 1 ... of as many classes.
Dataset samples(std::size_t count, std::size_t first) {
  std::vector<std::uint8_t> labels(count);
  for (std::size_t i = 0; i < count; ++i) labels[i] = static_cast<std::uint8_t>(i % 10);
  return colour_samples(labels, first);
}

SplitFacts facts_of(const Dataset& data) {
  std::vector<double> means;
  for (const PixelMoments& channel : channel_moments(data)) means.push_back(channel.mean);
  return {.count = data.size(),
          .per_class = std::vector<std::size_t>(10, data.size() / 10),
          .channel_means = means,
          .sha256 = samples_digest(data)};
}

/// A dataset of twenty and ten samples in the forms of CIFAR-10 and SVHN, its files as
/// long as they happen to be.
class ColourData : public testing::Test {
 protected:
  ColourData() {
    source = find_source("cifar10");
    source.forms.push_back(find_source("svhn").forms.back());
    source.name = "small";
    source.npm_package = "";
    source.train = facts_of(train);
    source.test = facts_of(test);
  }

  DataForm& form(Format format) {
    return *std::ranges::find(source.forms, format, &DataForm::format);
  }

  /// Writes a file and takes it for the published one.
  void publish(const fs::path& folder, DataFile& file, const std::string& content) {
    make_folders(folder);
    write_atomically(folder / file.name, content);
    file.bytes = content.size();
    file.sha256 = "";
  }

  void write_binary(const fs::path& folder) {
    DataForm& binary = form(Format::cifar10);
    for (std::size_t i = 0; i < 5; ++i) {
      publish(folder, binary.train[i], cifar_file(train).substr(i * 4 * 3073, 4 * 3073));
    }
    publish(folder, binary.test[0], cifar_file(test));
  }

  template <class Number>
  static std::vector<Number> copy(std::span<const Number> numbers) {
    return {numbers.begin(), numbers.end()};
  }

  Dataset part(std::size_t begin, std::size_t count) const {
    return {.shape = train.shape,
            .images = copy(train.images.bytes().subspan(begin * 3072, count * 3072)),
            .labels = copy(train.labels.subspan(begin, count))};
  }

  void write_sheets(const fs::path& folder) {
    DataForm& sheets = form(Format::sheets);
    for (std::size_t i = 0; i < 5; ++i) {
      publish(folder, sheets.train[i], sheet_file(part(4 * i, 4)));
    }
    publish(folder, sheets.train[5], labels_json(train));
    publish(folder, sheets.test[0], sheet_file(test));
    publish(folder, sheets.test[1], labels_json(test));
  }

  void write_matlab(const fs::path& folder) {
    DataForm& matlab = form(Format::matlab);
    publish(folder, matlab.train[0], mat_file(part(0, 5)));
    publish(folder, matlab.train[1], mat_file(part(5, 15)));
    publish(folder, matlab.test[0], mat_file(test));
  }

  fs::path get(const std::string& from) const {
    return get_data(source, {.from = from, .to = target});
  }

  void expect_samples(const DataPair& data) const {
    EXPECT_EQ(data.train.labels, train.labels);
    EXPECT_EQ(data.train.images, train.images);
    EXPECT_EQ(data.test.labels, test.labels);
    EXPECT_EQ(data.test.images, test.images);
    EXPECT_EQ(data.train.name, "small");
  }

  static std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  void expect_installed() const {
    EXPECT_THAT(names_in(target), UnorderedElementsAre("train.convoy", "test.convoy"));
    EXPECT_THAT(names_in(target.parent_path()),
                UnorderedElementsAre("small", ".small.lock"));
    expect_samples(load_place(source, *find_placement(target, source)));
  }

  void expect_nothing_installed() const {
    EXPECT_THAT(names_in(target.parent_path()), UnorderedElementsAre(".small.lock"));
  }

  void pack(const fs::path& archive) const {
    const std::string command =
        "tar -czf " + archive.string() + " -C " + origin.string() + " .";
    ASSERT_EQ(std::system(command.c_str()), 0);
  }

  UserEnvironment user;
  fs::path origin = user.path() / "origin";
  fs::path target = user.path() / "targets" / "small";
  Dataset train = samples(20, 0);
  Dataset test = samples(10, 99);
  DataSource source;
};

TEST_F(ColourData, IsReadInEveryForm) {
  write_binary(user.path() / "binary");
  write_sheets(user.path() / "sheets");
  write_matlab(user.path() / "matlab");

  for (const char* folder : {"binary", "sheets", "matlab"}) {
    expect_samples(load_place(source, locate_data(source, user.path() / folder)));
  }
}

TEST_F(ColourData, IsMadeCompactFromEveryForm) {
  write_binary(user.path() / "binary");
  write_sheets(user.path() / "sheets");
  write_matlab(user.path() / "matlab");

  for (const char* folder : {"binary", "sheets", "matlab"}) {
    EXPECT_EQ(get(user.path() / folder), target);
    expect_installed();
    fs::remove_all(target);
  }
}

TEST_F(ColourData, IsFoundInTheFolderThatItsArchiveUnpacksTo) {
  write_binary(origin / "cifar-10-batches-bin");
  const DataPlace place = locate_data(source, origin);

  EXPECT_EQ(place.folder, origin / "cifar-10-batches-bin");
  EXPECT_EQ(place.form->format, Format::cifar10);
}

TEST_F(ColourData, IsTakenInItsCompactFormFirst) {
  write_binary(origin);
  source.forms[0].train[0].bytes = 256 + 20 * 3073;
  source.forms[0].test[0].bytes = 256 + 10 * 3073;
  get(origin);
  write_binary(target);

  EXPECT_EQ(find_placement(target, source)->form->format, Format::compact);
  EXPECT_EQ(get(origin), target) << "it is there, and whole";
}

TEST_F(ColourData, ComesOutOfAnArchive) {
  write_binary(origin / "cifar-10-batches-bin");
  pack(user.path() / "cifar-10-binary.tar.gz");
  get(user.path() / "cifar-10-binary.tar.gz");

  expect_installed();
}

TEST_F(ColourData, ComesFromTheAddressOfAnArchive) {
  write_sheets(origin / "package");
  pack(user.path() / "small.tgz");
  const HttpServer server(user.path());
  get(server.url() + "/small.tgz");

  expect_installed();
}

TEST_F(ColourData, ComesFromTheAddressItsFilesAreUnder) {
  write_matlab(origin);
  const HttpServer server(user.path());
  get(server.url() + "/origin");

  expect_installed();
}

TEST_F(ColourData, SaysThatAnArchiveIsNotAtItsAddress) {
  const HttpServer server(user.path());

  expect_error(InputKind::storage, {server.url() + "/no.tgz", "no such file"},
               [&] { get(server.url() + "/no.tgz"); });
  expect_nothing_installed();
}

TEST_F(ColourData, SaysThatAnArchiveHoldsSomethingElse) {
  make_folders(origin);
  write_atomically(origin / "readme", "nothing");
  pack(user.path() / "other.tgz");

  expect_error(InputKind::data,
               {"other.tgz", "none of the files of small", "data_batch_1.bin"},
               [&] { get(user.path() / "other.tgz"); });
  expect_nothing_installed();
}

TEST_F(ColourData, LeavesNothingOfADamagedFile) {
  write_sheets(origin);
  std::string damaged = read_text(origin / "data_batch_3.png");
  damaged[damaged.size() / 2] ^= 0x55;
  write_atomically(origin / "data_batch_3.png", damaged);

  expect_error(InputKind::data,
               {(origin / "data_batch_3.png").string(), "a damaged PNG at row"},
               [&] { get(origin); });
  expect_nothing_installed();
}

TEST_F(ColourData, LeavesNothingOfAFileWithAnotherDigest) {
  write_binary(origin);
  form(Format::cifar10).test[0].sha256 = std::string(64, '0');

  expect_error(
      InputKind::data,
      {(origin / "test_batch.bin").string(), "SHA-256 0000", "from another source"},
      [&] { get(origin); });
  expect_nothing_installed();
}

TEST_F(ColourData, HasToHaveItsKnownCounts) {
  write_binary(origin);
  source.train.per_class[4] = 3;
  expect_error(InputKind::data,
               {origin.string() + ", training samples", "2 samples of class 4 (deer)",
                "expected: 3, as small has"},
               [&] { get(origin); });

  source.test.count = 11;
  source.train.per_class[4] = 2;
  expect_error(InputKind::data, {", test samples", "10 samples", "11 samples"},
               [&] { get(origin); });
  expect_nothing_installed();
}

TEST_F(ColourData, HasToHaveItsKnownMeans) {
  write_binary(origin);
  source.train.channel_means[1] += 1e-3;

  expect_error(InputKind::data, {"training samples", "a mean of ", "in channel 1"},
               [&] { get(origin); });
}

TEST_F(ColourData, HasToHaveItsKnownSamples) {
  write_binary(origin);
  source.test.sha256[0] ^= 1;

  expect_error(InputKind::data, {"test samples", "samples with SHA-256"},
               [&] { get(origin); });
}

TEST_F(ColourData, KnowsItsSamplesInAnyOrder) {
  Dataset turned = part(10, 10);
  const Dataset first = part(0, 10);
  const std::string images =
      text_of(turned.images.bytes()) + text_of(first.images.bytes());
  std::vector<std::int32_t> labels(turned.labels.begin(), turned.labels.end());
  labels.insert(labels.end(), first.labels.begin(), first.labels.end());
  turned.images = std::vector<std::uint8_t>(images.begin(), images.end());
  turned.labels = labels;

  EXPECT_NE(turned.images, train.images);
  EXPECT_EQ(samples_digest(turned), samples_digest(train));
  EXPECT_NE(samples_digest(turned), samples_digest(test));
}

TEST_F(ColourData, TellsADamagedCompactFile) {
  write_binary(origin);
  source.forms[0].train[0].bytes = 256 + 20 * 3073;
  source.forms[0].test[0].bytes = 256 + 10 * 3073;
  get(origin);
  std::string damaged = read_text(target / "test.convoy");
  damaged.back() ^= 1;
  write_atomically(target / "test.convoy", damaged);

  expect_error(InputKind::data,
               {(target / "test.convoy").string(), "SHA-256", "remove the folder"},
               [&] { get(origin); });
}

TEST(ColourSources, AddUp) {
  for (const char* name : {"cifar10", "cifar100", "svhn"}) {
    const DataSource& source = find_source(name);
    for (const SplitFacts* half : {&source.train, &source.test}) {
      std::size_t sum = 0;
      for (const std::size_t count : half->per_class) sum += count;
      EXPECT_EQ(sum, half->count) << name;
      EXPECT_EQ(half->per_class.size(), source.classes.size()) << name;
    }
    EXPECT_TRUE(std::ranges::is_sorted(source.classes)) << name;
  }
}

}  // namespace
}  // namespace convoy
