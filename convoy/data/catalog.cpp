// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/catalog.h"

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/sha256.h"
#include "convoy/data/gzip.h"
#include "convoy/data/idx.h"
#include "convoy/data/locate.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

std::string to_text(const Shape& shape) {
  return fmt::format("{} x {} x {}", shape.channels, shape.height, shape.width);
}

Dataset load_split(const DataSource& source, const fs::path& folder, FileRole images,
                   FileRole labels) {
  const fs::path path = file_in(folder, source.file(images));
  Dataset data = read_idx(path, file_in(folder, source.file(labels)), source.classes);
  data.name = source.name;
  if (data.shape == source.shape) return data;
  throw InputError(InputKind::data, {.where = path.string(),
                                     .found = "images of " + to_text(data.shape),
                                     .expected = "images of " + to_text(source.shape) +
                                                 ", as " + source.name + " has",
                                     .hint = ""});
}

/// MNIST and its kin share file names and sizes; their labels tell them apart.
void refuse_other_dataset(const DataSource& source, const fs::path& folder) {
  const fs::path labels = file_in(folder, source.file(FileRole::train_labels));
  const std::string digest = sha256_hex(read_plain(labels));
  for (const DataSource& other : data_sources()) {
    if (other.name == source.name || other.files.empty()) continue;
    if (other.file(FileRole::train_labels).sha256 != digest) continue;
    throw InputError(InputKind::data,
                     {.where = folder.string(),
                      .found = "the files of " + other.name,
                      .expected = "the files of " + source.name,
                      .hint = "name another folder or data=" + other.name});
  }
}

DataPair load_folder(const DataSource& source, const fs::path& folder) {
  refuse_other_dataset(source, folder);
  return {load_split(source, folder, FileRole::train_images, FileRole::train_labels),
          load_split(source, folder, FileRole::test_images, FileRole::test_labels)};
}

SplitCheck count(const Dataset& data) {
  return {data.size(), class_counts(data), pixel_moments(data)};
}

DataCheck describe(const DataPair& data, const fs::path& folder) {
  return {.name = data.train.name,
          .folder = folder,
          .shape = data.train.shape,
          .classes = data.train.classes,
          .train = count(data.train),
          .test = count(data.test)};
}

}  // namespace

DataPair load_data(const DataOptions& options) {
  const DataSource& source = find_source(options.name);
  if (source.files.empty()) return make_synthetic(options.synthetic);
  return load_folder(source, locate_data(source, options.root));
}

DataCheck check_data(const DataOptions& options) {
  const DataSource& source = find_source(options.name);
  if (source.files.empty()) return describe(make_synthetic(options.synthetic), "");
  const fs::path folder = locate_data(source, options.root);
  const DataPair data = load_folder(source, folder);
  verify_files(source, folder);
  return describe(data, folder);
}

void verify_files(const DataSource& source, const fs::path& folder) {
  for (const DataFile& file : source.files) {
    const fs::path path = file_in(folder, file);
    verify_content(read_plain(path), file, path.string(),
                   "remove the folder and get the dataset again");
  }
}

}  // namespace convoy
