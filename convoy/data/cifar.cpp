// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/cifar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "convoy/base/text.h"
#include "convoy/data/checks.h"
#include "convoy/data/gzip.h"
#include "convoy/data/labels.h"
#include "convoy/data/locate.h"

namespace convoy {
namespace {

/// Separates records into labels and pixels.
class Collector {
 public:
  Collector(std::size_t labels_a_record, std::size_t classes)
      : skipped_(labels_a_record - 1), classes_(classes) {}

  void add(const PlainFile& file, const DataFile& published) {
    check_size(file, published);
    const std::size_t first = labels_.size();
    for (auto rest = file.bytes(); !rest.empty(); rest = rest.subspan(record())) {
      const auto pixels = rest.subspan(skipped_ + 1, kSmallColourShape.size());
      labels_.push_back(rest[skipped_]);
      images_.insert(images_.end(), pixels.begin(), pixels.end());
    }
    check_labels(std::span(labels_).subspan(first), classes_, file.path());
  }

  Dataset finish(const std::vector<std::string>& classes) {
    return {.name = "",
            .shape = kSmallColourShape,
            .classes = classes,
            .images = std::move(images_),
            .labels = std::move(labels_)};
  }

  void reserve(std::size_t bytes) { images_.reserve(bytes); }

 private:
  std::size_t record() const { return skipped_ + 1 + kSmallColourShape.size(); }

  void check_size(const PlainFile& file, const DataFile& published) const {
    if (file.bytes().size() == published.bytes) return;
    throw bad_data(
        file.path(), with_commas(file.bytes().size()) + " bytes",
        fmt::format("{} bytes: {} records of {}", with_commas(published.bytes),
                    with_commas(published.bytes / record()), with_commas(record())),
        "get the dataset again");
  }

  std::size_t skipped_;
  std::size_t classes_;
  std::vector<std::uint8_t> images_;
  std::vector<std::int32_t> labels_;
};

}  // namespace

Dataset read_cifar(const std::filesystem::path& folder,
                   const std::vector<DataFile>& files, std::size_t labels,
                   const std::vector<std::string>& classes) {
  Collector collector(labels, classes.size());
  std::size_t bytes = 0;
  for (const DataFile& file : files) bytes += file.bytes;
  collector.reserve(bytes);
  for (const DataFile& file : files) {
    collector.add(PlainFile(file_in(folder, file), file.bytes + kUnpackedSlack), file);
  }
  return collector.finish(classes);
}

}  // namespace convoy
