// SPDX-License-Identifier: Apache-2.0
//
// The same files in folders, in tar shards and in one file are the same batches.

#include "convoy/data/packed/packed_format.h"
#include "convoy/data/tar/tar_images.h"
#include "convoy/loader/loader.h"
#include "convoy/pack/pack.h"
#include "tests/data/tar_files.h"
#include "tests/images/image_folders.h"

namespace convoy {
namespace {

class SameBatches : public testing::Test {
 protected:
  SameBatches() {
    folder.add_two_classes();
    stores.push_back(open_image_folder(folder.options()));
    write_shards(stores[0].train, folder.path("tar"), "train", 2);
    write_shards(stores[0].test, folder.path("tar"), "val", 1);
    stores.push_back(open_tar({.root = folder.path("tar").string(),
                               .train = "train-{0..1}.tar",
                               .val = "val-0.tar"},
                              folder.options()));
    pack_data(stores[1], {.file = folder.path("a.pack"), .threads = 2});
    ImageFolderOptions images = folder.options();
    images.root = folder.path("a.pack");
    stores.push_back(open_packed(images));
  }

  /// Images and labels of an epoch's batches from one on.
  static std::vector<float> batches(const Dataset& data, const MicrobatchPart& part,
                                    std::size_t first) {
    LoaderOptions options{.batch_size = 4,
                          .part = part,
                          .augmentation = Augmentation::imagenet,
                          .threads = 2};
    Loader loader(data, {0, 1, 2, 3, 4}, options);
    loader.start_epoch(2, first);
    std::vector<float> numbers;
    while (const Batch* batch = loader.next()) {
      numbers.insert(numbers.end(), batch->images.begin(), batch->images.end());
      numbers.insert(numbers.end(), batch->labels.begin(), batch->labels.end());
    }
    return numbers;
  }

  const ImageFolder folder;
  std::vector<DataPair> stores;  // folder, tar, packed
};

TEST_F(SameBatches, OnOneRankAndOnTwoFromAnyBatchOn) {
  const std::vector<MicrobatchPart> parts = {
      all_microbatches(2), {2, {0, 1}}, {2, {1, 2}}};
  for (const MicrobatchPart& part : parts) {
    for (const std::size_t first : {0, 1}) {
      const std::vector<float> expected = batches(stores[0].train, part, first);
      EXPECT_EQ(batches(stores[1].train, part, first), expected);
      EXPECT_EQ(batches(stores[2].train, part, first), expected);
    }
  }
  EXPECT_EQ(batches(stores[0].train, parts[0], 0).size(), 5u * (3 * 32 * 32 + 1));
}

}  // namespace
}  // namespace convoy
