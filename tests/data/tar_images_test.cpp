// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/tar/tar_images.h"

#include "convoy/data/tar/shard_cache.h"
#include "convoy/s3/client.h"
#include "tests/base/expect_error.h"
#include "tests/data/tar_files.h"
#include "tests/data/user_environment.h"
#include "tests/http/http_server.h"
#include "tests/images/image_folders.h"
#include "tests/s3/s3_server.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::EndsWith;
using testing::SizeIs;

std::string characters(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string image_of(const Dataset& data, std::size_t sample) {
  std::vector<std::byte> buffer;
  return characters(data.files->contents->read(sample, buffer));
}

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

class TarShards : public testing::Test {
 protected:
  TarShards() {
    folder.add_two_classes();
    pair = open_image_folder(folder.options());
    write_shards(pair.train, folder.path("tar"), "train", 2);
    write_shards(pair.test, folder.path("tar"), "val", 1);
  }

  TarOptions options(const std::string& root) const {
    return {.root = root,
            .train = "train-{0..1}.tar",
            .val = "val-0.tar",
            .cache_bytes = 1 << 30};
  }
  TarOptions options() const { return options(folder.path("tar").string()); }

  DataPair open(const TarOptions& tar) const {
    ImageFolderOptions images = folder.options();
    images.cache = folder.path("cache");
    return open_tar(tar, images);
  }

  void expect_the_folders_images(const DataPair& tar) const {
    EXPECT_EQ(tar.train.labels, pair.train.labels);
    EXPECT_EQ(tar.test.labels, pair.test.labels);
    for (std::size_t i = 0; i < pair.train.size(); ++i) {
      EXPECT_EQ(image_of(tar.train, i), image_of(pair.train, i)) << i;
    }
    EXPECT_EQ(image_of(tar.test, 1), image_of(pair.test, 1));
  }

  const ImageFolder folder;
  DataPair pair;
};

TEST_F(TarShards, HaveTheImagesOfTheFolderTheyAreMadeOf) {
  const DataPair tar = open(options());

  expect_the_folders_images(tar);
  EXPECT_THAT(tar.train.classes, ElementsAre("0", "1"));
  EXPECT_THAT(tar.train.files->contents->name(4), EndsWith("train-1.tar: 000004.jpg"));
  EXPECT_EQ(tar.train.shape, (Shape{3, 32, 32}));
}

TEST_F(TarShards, MayBeInAFolderWithBracesInItsName) {
  fs::rename(folder.path("tar"), folder.path("{a,b}{"));
  expect_the_folders_images(open(options(folder.path("{a,b}{").string())));
}

TEST_F(TarShards, HaveClassesByNameIfAFileNamesThem) {
  folder.write("names.txt", "tabby\r\nhound\nfox\n");
  TarOptions named = options();
  named.class_names = folder.path("names.txt");
  EXPECT_THAT(open(named).train.classes, ElementsAre("tabby", "hound", "fox"));

  folder.write("names.txt", "tabby\n");
  expect_error(InputKind::data,
               {"train-1.tar: 000003.jpg\n  found:    the label 1",
                "expected: a label below 1, the number of classes"},
               [&] { open(named); });
}

TEST_F(TarShards, AreRefusedIfValHasALabelThatTrainHasNot) {
  folder.write("tar/val-0.tar",
               tar_member("x.jpg", "i") + tar_member("x.cls", "2") + kTarEnd);
  expect_error(InputKind::data, {"val-0.tar: x.jpg\n  found:    the label 2", "below 2"},
               [&] { open(options()); });
}

TEST_F(TarShards, AreRefusedIfTheyAreNotNamedOrNotThere) {
  expect_error(InputKind::settings, {"data.train\n  found:    no shards"},
               [&] { open({.root = "x", .val = "y"}); });
  TarOptions more = options();
  more.train = "train-{0..2}.tar";
  expect_error(InputKind::storage, {"train-2.tar", "No such file"}, [&] { open(more); });
}

TEST_F(TarShards, MustNotShrinkWhileTheyAreUsed) {
  const DataPair tar = open(options());
  fs::resize_file(folder.path("tar/train-1.tar"), 2048);
  expect_error(InputKind::storage,
               {"train-1.tar\n  found:    2,048 bytes", "as when this shard was opened"},
               [&] { image_of(tar.train, 4); });
  fs::remove(folder.path("tar/train-1.tar"));
  expect_error(InputKind::storage, {"train-1.tar", "No such file"},
               [&] { image_of(tar.train, 4); });
}

TEST_F(TarShards, AreReadFromAServerAndKept) {
  const UserEnvironment environment;
  const fs::path kept = folder.path("cache/shards");
  {
    const HttpServer server(folder.path("tar"), HttpParts::ranges);
    const DataPair tar = open(options(server.url()));
    expect_the_folders_images(tar);
    EXPECT_EQ(files_in(kept), 3u);
    fs::remove_all(kept);  // as another process may do it: images come from the server
    expect_the_folders_images(tar);
    expect_error(InputKind::storage, {server.url(), "no such file on the server"}, [&] {
      TarOptions more = options(server.url());
      more.train = "train-7.tar";
      open(more);
    });
  }
}

TEST_F(TarShards, AreKeptAsFarAsTheyFit) {
  const UserEnvironment environment;
  const HttpServer server(folder.path("tar"), HttpParts::ranges);
  const fs::path kept = folder.path("cache/shards");
  const std::uint64_t train = fs::file_size(folder.path("tar/train-0.tar"));
  folder.write("cache/shards/of another dataset", std::string(1000, 'x'));

  TarOptions bounded = options(server.url());
  bounded.cache_bytes = train + 500;
  const DataPair tar = open(bounded);

  expect_the_folders_images(tar);
  EXPECT_EQ(files_in(kept), 1u);
  EXPECT_EQ(fs::file_size(fs::directory_iterator(kept)->path()), train);
}

TEST_F(TarShards, AreReadFromObjectStorage) {
  const S3Server server;
  UserEnvironment environment;
  S3Client client(access_at(server.port()), quick());
  for (const char* name : {"train-0.tar", "train-1.tar", "val-0.tar"}) {
    client.put_file({kBucket, std::string("data/") + name},
                    SourceFile(folder.path("tar") / name));
  }
  environment.set("AWS_ACCESS_KEY_ID", "S3RVER");
  environment.set("AWS_SECRET_ACCESS_KEY", "S3RVER");
  environment.set("AWS_ENDPOINT_URL", access_at(server.port()).endpoint);

  expect_the_folders_images(open(options("s3://models/data")));
  TarOptions bounded = options("s3://models/data");
  bounded.cache_bytes = 0;
  fs::remove_all(folder.path("cache"));
  expect_the_folders_images(open(bounded));
  EXPECT_EQ(files_in(folder.path("cache/shards")), 0u);
  expect_error(InputKind::storage, {"s3://models/data/val-7.tar", "no such file"}, [&] {
    bounded.val = "val-7.tar";
    open(bounded);
  });
}

}  // namespace
}  // namespace convoy
