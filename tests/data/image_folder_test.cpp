// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/folder/image_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convoy/data/folder/folder_index.h"
#include "tests/base/expect_error.h"
#include "tests/images/image_folders.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::EndsWith;

std::vector<std::string> names_of(const Dataset& data) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const fs::path path = data.files->contents->name(i);
    names.push_back(path.parent_path().filename().string() + "/" +
                    path.filename().string());
  }
  return names;
}

TEST(ImageFolder, HasClassesAndFilesInTheOrderOfTorchvision) {
  const ImageFolder folder;
  folder.add_two_classes();
  folder.add("train/cat/B.jpg");
  folder.write("train/cat/notes.txt", "not an image");
  const auto [train, val] = open_image_folder(folder.options());

  EXPECT_THAT(train.classes, ElementsAre("cat", "dog"));
  EXPECT_THAT(names_of(train), ElementsAre("cat/B.jpg", "cat/a.JPEG", "cat/b.png",
                                           "cat/c.jpg", "dog/a.jpeg", "dog/b.JPG"));
  EXPECT_THAT(train.labels, ElementsAre(0, 0, 0, 0, 1, 1));
  EXPECT_THAT(names_of(val), ElementsAre("cat/x.jpg", "dog/y.jpg"));
  EXPECT_EQ(train.shape, (Shape{3, 32, 32}));
}

TEST(ImageFolder, FollowsFoldersInsideAClassAsPythonWalksThem) {
  const ImageFolder folder;
  folder.add_two_classes();
  folder.add("train/cat/in/z.jpg");
  folder.add("train/cat/in/deep/y.jpg");
  folder.add("train/cat/in-side/x.jpg");
  const FolderIndex index(folder.path("train"), "");

  EXPECT_THAT(index.path(3).string(), EndsWith("cat/in/z.jpg"));
  EXPECT_THAT(index.path(4).string(), EndsWith("cat/in-side/x.jpg"));
  EXPECT_THAT(index.path(5).string(), EndsWith("cat/in/deep/y.jpg"));
}

TEST(ImageFolder, TakesNamesOfClassesFromASynsetFile) {
  const ImageFolder folder;
  folder.add_two_classes();
  folder.write("synset_words.txt", "dog hound, hound dog\r\ncat tabby, tabby cat\n");

  EXPECT_THAT(open_image_folder(folder.options()).train.classes,
              ElementsAre("tabby, tabby cat", "hound, hound dog"));

  folder.write("synset_words.txt", "cat tabby\n");
  expect_error(InputKind::data, {"synset_words.txt\n", "found:    no line of dog"},
               [&] { open_image_folder(folder.options()); });
}

TEST(ImageFolder, KeepsAnIndexUntilAFolderChanges) {
  const ImageFolder folder;
  folder.add_two_classes();
  folder.settle("train");
  const fs::path cache = folder.path("cache");
  const FolderIndex first(folder.path("train"), cache);
  ASSERT_EQ(std::distance(fs::directory_iterator(cache), fs::directory_iterator()), 1);

  // The folder's time stays as it was: only the index can still have the old name.
  fs::rename(folder.path("train/cat/a.JPEG"), folder.path("train/cat/0.JPEG"));
  folder.settle("train");
  const FolderIndex changed(folder.path("train"), cache);
  EXPECT_THAT(changed.path(0).string(), EndsWith("cat/0.JPEG"));
  const auto time = fs::last_write_time(folder.path("train/cat"));
  fs::rename(folder.path("train/cat/0.JPEG"), folder.path("train/cat/1.JPEG"));
  fs::last_write_time(folder.path("train/cat"), time);
  const FolderIndex kept(folder.path("train"), cache);

  EXPECT_THAT(kept.path(0).string(), EndsWith("cat/0.JPEG"));
  EXPECT_EQ(kept.size(), 5u);
  EXPECT_EQ(kept.labels(), first.labels());
}

TEST(ImageFolder, ListsTheFolderAgainIfTheIndexIsDamaged) {
  const ImageFolder folder;
  folder.add_two_classes();
  folder.settle("train");
  const fs::path cache = folder.path("cache");
  const FolderIndex first(folder.path("train"), cache);
  const fs::path file = fs::directory_iterator(cache)->path();
  const std::string whole = read_text(file);
  for (const std::string& content :
       {std::string(), whole.substr(0, whole.size() - 1), whole.substr(0, 20),
        "{}\n" + whole, whole + std::string(1, '\0'), std::string("[1,2]\n")}) {
    write_atomically(file, content);
    const FolderIndex again(folder.path("train"), cache);
    EXPECT_EQ(again.size(), 5u);
    EXPECT_EQ(again.path(4), first.path(4));
  }
}

TEST(ImageFolder, KeepsNoIndexOfAFolderThatHasJustChanged) {
  const ImageFolder folder;
  folder.add_two_classes();
  const FolderIndex index(folder.path("train"), folder.path("cache"));

  EXPECT_FALSE(fs::exists(folder.path("cache")));
}

TEST(ImageFolder, RefusesARootWithoutTrainAndVal) {
  const ImageFolder folder;
  expect_error(InputKind::storage, {"data.root\n", "no folder", "train and val"},
               [&] { open_image_folder({}); });
  expect_error(InputKind::storage,
               {"data.root\n", "found:    no folder " + folder.path("train").string()},
               [&] { open_image_folder(folder.options()); });
}

TEST(ImageFolder, RefusesFoldersWithoutImages) {
  const ImageFolder folder;
  folder.add_two_classes();
  fs::create_directory(folder.path("train/empty"));
  expect_error(InputKind::data,
               {folder.path("train/empty").string() + "\n", "found:    no images",
                "expected: at least one image in the folder of a class"},
               [&] { open_image_folder(folder.options()); });
  fs::remove_all(folder.path("train"));
  fs::create_directory(folder.path("train"));
  expect_error(InputKind::data, {"no subfolders", "one subfolder of images per class"},
               [&] { open_image_folder(folder.options()); });
}

TEST(ImageFolder, RefusesHalvesWithDifferentClasses) {
  const ImageFolder folder;
  folder.add_two_classes();
  folder.add("val/emu/a.jpg");
  expect_error(InputKind::data,
               {folder.path("train").string() + "\n", "no folder emu, which val has"},
               [&] { open_image_folder(folder.options()); });
}

TEST(ImageFolder, RefusesAnImageOfAnotherFormat) {
  const ImageFolder folder;
  folder.add_two_classes();
  folder.write("val/cat/z.webp", "RIFF");
  expect_error(InputKind::data,
               {"val/cat/z.webp\n", "found:    an image of a format that is not read"},
               [&] { open_image_folder(folder.options()); });
}

}  // namespace
}  // namespace convoy
