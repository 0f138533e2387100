// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "convoy/data/locate.h"
#include "tests/base/expect_error.h"
#include "tests/data/idx_files.h"
#include "tests/data/user_environment.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDebianFashion = "/usr/share/datasets/fashion-mnist";

std::size_t loaded_count(const DataOptions& options) {
  return load_data(options).train.size();
}

TEST(Catalog, ListsDatasetsWithTheDefaultFirst) {
  std::vector<std::string> names;
  for (const DataSource& source : data_sources()) names.push_back(source.name);

  EXPECT_THAT(
      names, testing::ElementsAre("fashion_mnist", "mnist", "cifar10", "cifar100", "svhn",
                                  "synthetic", "imagefolder", "tar", "packed"));
  EXPECT_EQ(DataOptions{}.name, names.front());
}

TEST(Catalog, NamesTheNearestDatasetForAnUnknownOne) {
  expect_error(InputKind::settings, {"fashion_mnits", "nearest name: fashion_mnist"},
               [] { load_data({.name = "fashion_mnits"}); });
}

TEST(Catalog, MakesTheSyntheticDataset) {
  const DataPair data = load_data(
      {.name = "synthetic", .synthetic = {.train_count = 20, .test_count = 10}});

  EXPECT_EQ(data.train.size(), 20u);
  EXPECT_EQ(data.train.name, "synthetic");
}

TEST(Catalog, SearchesTheVariableThenTheCacheThenTheSystem) {
  UserEnvironment user;
  const DataSource& source = find_source("fashion_mnist");
  user.set("CONVOY_DATA", "/data");
  user.set("XDG_CACHE_HOME", "/cache");

  EXPECT_THAT(data_folders(source),
              testing::ElementsAre("/data/fashion_mnist", "/data",
                                   "/cache/convoy/fashion_mnist", kDebianFashion));
}

TEST(Catalog, IgnoresARelativeCacheAsTheSpecificationAsks) {
  UserEnvironment user;
  user.set("XDG_CACHE_HOME", "cache");

  EXPECT_EQ(cache_folder(find_source("mnist")), user.cache() / "mnist");
}

TEST(Catalog, TakesTheFirstFolderThatHasTheFiles) {
  UserEnvironment user;
  SmallFiles(3).write(user.cache() / "fashion_mnist", /*packed=*/true);
  EXPECT_EQ(loaded_count({}), 3u);

  user.set("CONVOY_DATA", (user.path() / "data").string());
  EXPECT_EQ(loaded_count({}), 3u);
  SmallFiles(4).write(user.path() / "data");
  EXPECT_EQ(loaded_count({}), 4u);
  SmallFiles(5).write(user.path() / "data" / "fashion_mnist");
  EXPECT_EQ(loaded_count({}), 5u);

  SmallFiles(6).write(user.path() / "explicit");
  EXPECT_EQ(loaded_count({.root = user.path() / "explicit"}), 6u);
}

TEST(Catalog, SaysWhereItLookedAndHowToGetAMissingDataset) {
  UserEnvironment user;
  user.set("CONVOY_DATA", "/nowhere");
  if (fs::exists("/usr/share/datasets/mnist")) GTEST_SKIP() << "the system has MNIST";

  expect_error(InputKind::storage,
               {"/nowhere/mnist", (user.cache() / "mnist").string(),
                "/usr/share/datasets/mnist", "convoy data get mnist"},
               [] { load_data({.name = "mnist"}); });
}

TEST(Catalog, NamesAnExplicitFolderThatIsMissingOrEmpty) {
  UserEnvironment user;
  const fs::path missing = user.path() / "missing";

  expect_error(InputKind::storage,
               {missing.string(), "no such folder", "apt install dataset-fashion-mnist"},
               [&] { load_data({.root = missing}); });
  expect_error(InputKind::storage, {user.path().string(), "none of the files"},
               [&] { load_data({.root = user.path()}); });
}

TEST(Catalog, NamesAFileThatAFolderLacks) {
  UserEnvironment user;
  SmallFiles(3).write(user.path());
  fs::remove(user.path() / "t10k-labels-idx1-ubyte");

  expect_error(InputKind::storage,
               {(user.path() / "t10k-labels-idx1-ubyte").string(), "no such file"},
               [&] { load_data({.root = user.path()}); });
}

TEST(Catalog, RefusesImagesOfAnotherShape) {
  UserEnvironment user;
  SmallFiles files(3);
  files.contents[2] = idx_images(2, 28, 29);
  files.write(user.path());

  expect_error(InputKind::data, {"t10k-images", "1 x 28 x 29", "1 x 28 x 28"},
               [&] { load_data({.root = user.path()}); });
}

TEST(Catalog, RefusesTheFilesOfAnotherDataset) {
  expect_error(InputKind::data, {kDebianFashion, "the files of fashion_mnist"},
               [] { load_data({.name = "mnist", .root = kDebianFashion}); });
}

TEST(Catalog, ChecksFashionMnistAsPublished) {
  UserEnvironment user;
  const DataCheck found = check_data({.name = "fashion_mnist"});

  EXPECT_EQ(found.folder, kDebianFashion);
  EXPECT_EQ(found.train.count, 60000u);
  EXPECT_EQ(found.test.count, 10000u);
  EXPECT_EQ(found.train.per_class, std::vector<std::size_t>(10, 6000));
  EXPECT_EQ(found.test.per_class, std::vector<std::size_t>(10, 1000));
  EXPECT_NEAR(found.train.pixels.mean, 0.2860, 5e-5);  // as published for normalising
  EXPECT_NEAR(found.train.pixels.deviation, 0.3530, 5e-5);
}

TEST(Catalog, FindsFilesThatLoadButAreNotAsPublished) {
  UserEnvironment user;
  SmallFiles(3).write(user.path());

  expect_error(InputKind::data,
               {"train-images-idx3-ubyte", "2,368 bytes", "the 47,040,016 bytes"},
               [&] { check_data({.root = user.path()}); });
}

}  // namespace
}  // namespace convoy
