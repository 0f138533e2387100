// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/tar/tar_images.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/data/checks.h"
#include "convoy/data/tar/brace_pattern.h"
#include "convoy/data/tar/servers.h"
#include "convoy/data/tar/shard_cache.h"
#include "convoy/data/tar/shard_index.h"
#include "convoy/data/tar/tar_reader.h"
#include "convoy/system/file.h"
#include "convoy/system/tasks/parallel_tasks.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kIndexingThreads = 8;  // which wait more than they compute

using Shards = std::vector<std::shared_ptr<const Shard>>;

class TarImages final : public EncodedImages {
 public:
  TarImages(Shards shards, const fs::path& cache) : shards_(std::move(shards)) {
    std::vector<std::optional<ShardIndex>> indices(shards_.size());
    run_in_parallel(shards_.size(), kIndexingThreads, [&](std::size_t i, std::size_t) {
      indices[i].emplace(*shards_[i], cache);
    });
    for (std::optional<ShardIndex>& index : indices) {
      starts_.push_back(starts_.back() + index->size());
      indices_.push_back(std::move(*index));
    }
  }

  std::string name(std::size_t sample) const override {
    const Place place = place_of(sample);
    return shards_[place.shard]->name() + ": " + indices_[place.shard].name(place.index);
  }

  std::span<const std::byte> read(std::size_t sample,
                                  std::vector<std::byte>& buffer) const override {
    const Place place = place_of(sample);
    const ShardIndex::Record& record = indices_[place.shard].record(place.index);
    buffer.resize(record.bytes);
    shards_[place.shard]->read(record.offset, buffer);
    return buffer;
  }

  std::vector<std::int32_t> labels() const {
    std::vector<std::int32_t> labels;
    labels.reserve(starts_.back());
    for (const ShardIndex& index : indices_) {
      for (std::size_t i = 0; i < index.size(); ++i) {
        labels.push_back(index.record(i).label);
      }
    }
    return labels;
  }

 private:
  struct Place {
    std::size_t shard, index;
  };

  Place place_of(std::size_t sample) const {
    const auto after = std::ranges::upper_bound(starts_, sample);
    const auto shard = static_cast<std::size_t>(after - starts_.begin()) - 1;
    return {shard, sample - starts_[shard]};
  }

  Shards shards_;
  std::vector<ShardIndex> indices_{};
  std::vector<std::size_t> starts_ = {0};  // the first sample of each shard, and the end
};

/// Of data.train or data.val.
std::vector<std::string> places_of(const std::string& root, const std::string& pattern,
                                   const std::string& where) {
  if (pattern.empty()) {
    throw InputError(InputKind::settings,
                     {.where = where,
                      .found = "no shards",
                      .expected = "a pattern of tar files with data=tar",
                      .hint = where + "=train-{000..099}.tar"});
  }
  std::vector<std::string> places = expand_braces(pattern, where);
  for (std::string& place : places) {
    if (root.empty() || place.starts_with('/') || is_remote(place)) continue;
    place.insert(0, root + (root.ends_with('/') ? "" : "/"));
  }
  return places;
}

std::vector<std::string> read_names(const fs::path& file) {
  constexpr std::size_t kMostBytes = 1 << 24;
  std::vector<std::string> names;
  std::istringstream text(read_text(file, kMostBytes));
  for (std::string line; std::getline(text, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) names.push_back(line);
  }
  if (names.empty()) throw bad_data(file, "no names", "the name of a class per line");
  return names;
}

std::vector<std::string> numbered_classes(const std::vector<std::int32_t>& labels) {
  std::vector<std::string> names;
  for (std::int32_t i = 0; i <= std::ranges::max(labels); ++i) {
    names.push_back(std::to_string(i));
  }
  return names;
}

void check_range(const TarImages& images, const std::vector<std::int32_t>& labels,
                 std::size_t classes) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (static_cast<std::size_t>(labels[i]) < classes) continue;
    throw bad_data(images.name(i), fmt::format("the label {}", labels[i]),
                   fmt::format("a label below {}, the number of classes", classes),
                   "data.class_names=FILE has a name per line; without it, train has all "
                   "classes");
  }
}

}  // namespace

DataPair open_tar(const TarOptions& tar, const ImageFolderOptions& options) {
  const std::vector<std::string> train = places_of(tar.root, tar.train, "data.train");
  std::vector<std::string> all = train;
  for (std::string& place : places_of(tar.root, tar.val, "data.val")) {
    all.push_back(std::move(place));
  }
  const bool has_cache = !options.cache.empty();
  Shards shards =
      open_shards(all, {.folder = has_cache ? options.cache / "shards" : fs::path(),
                        .most_bytes = tar.cache_bytes});
  const auto end_of_train = shards.begin() + static_cast<std::ptrdiff_t>(train.size());
  const auto of_train =
      std::make_shared<TarImages>(Shards(shards.begin(), end_of_train), options.cache);
  const auto of_val =
      std::make_shared<TarImages>(Shards(end_of_train, shards.end()), options.cache);

  std::vector<std::int32_t> train_labels = of_train->labels(),
                            val_labels = of_val->labels();
  const std::vector<std::string> classes = tar.class_names.empty()
                                               ? numbered_classes(train_labels)
                                               : read_names(tar.class_names);
  check_range(*of_train, train_labels, classes.size());
  check_range(*of_val, val_labels, classes.size());
  return {dataset_of_files("tar", classes, std::move(train_labels), of_train, options),
          dataset_of_files("tar", classes, std::move(val_labels), of_val, options)};
}

}  // namespace convoy
