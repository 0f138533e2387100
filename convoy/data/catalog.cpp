// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/catalog.h"

#include <utility>

#include "convoy/base/error.h"
#include "convoy/base/sha256.h"
#include "convoy/data/checks.h"
#include "convoy/data/cifar.h"
#include "convoy/data/convoy_format.h"
#include "convoy/data/gzip.h"
#include "convoy/data/idx.h"
#include "convoy/data/matlab.h"
#include "convoy/data/packed/packed_format.h"
#include "convoy/data/png_sprites.h"
#include "convoy/data/verify.h"
#include "convoy/images/image_file.h"
#include "convoy/system/cpu.h"
#include "convoy/system/tasks/parallel_tasks.h"
#include "convoy/system/user_cache.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

Dataset read_files(const DataSource& source, const DataPlace& place,
                   const std::vector<DataFile>& files) {
  const fs::path& folder = place.folder;
  switch (place.form->format) {
    case Format::idx:
      return read_idx(file_in(folder, files[0]), file_in(folder, files[1]),
                      source.classes);
    case Format::cifar10:
      return read_cifar(folder, files, 1, source.classes);
    case Format::cifar100:
      return read_cifar(folder, files, 2, source.classes);
    case Format::sheets:
      return read_png_sprites(folder, files, source.classes);
    case Format::matlab:
      return read_matlab(folder, files, source.classes);
    case Format::compact:
      return read_convoy_format(file_in(folder, files[0]), source.name, source.classes);
  }
  check(false, "a format has a reader");
  return {};
}

Dataset load_half(const DataSource& source, const DataPlace& place,
                  const std::vector<DataFile>& files) {
  Dataset data = read_files(source, place, files);
  data.name = source.name;
  if (data.shape == source.shape) return data;
  throw bad_data(file_in(place.folder, files[0]), "images of " + to_text(data.shape),
                 "images of " + to_text(source.shape) + ", as " + source.name + " has");
}

/// Whether the file's digest is that of one of the source's files.
bool is_labels_of(const DataSource& source, const std::string& digest) {
  return !source.forms.empty() && source.forms[0].train.back().sha256 == digest;
}

/// Reads as much as the published file has, and one byte more: a longer file has another
/// digest.
std::string beginning_digest(const fs::path& folder, const DataFile& file) {
  const MappedFile mapped(file_in(folder, file));
  const std::string where = file_in(folder, file).string();
  if (!is_gzip(mapped.bytes())) return sha256_hex(mapped.bytes());
  return sha256_hex(gunzip_beginning(mapped.bytes(), where, file.bytes + 1));
}

/// MNIST and similar datasets have the same file names and sizes; their label files
/// differ.
void refuse_other_dataset(const DataSource& source, const DataPlace& place) {
  if (place.form->format != Format::idx) return;
  const std::string digest = beginning_digest(place.folder, place.form->train.back());
  for (const DataSource& other : data_sources()) {
    if (other.name == source.name || !is_labels_of(other, digest)) continue;
    throw bad_data(place.folder, "the files of " + other.name,
                   "the files of " + source.name,
                   "name another folder or data=" + other.name);
  }
}

DataPair open_images(const DataSource& source, const DataOptions& options) {
  ImageFolderOptions images = options.images;
  images.root = options.root;
  if (const fs::path cache = user_cache(); !cache.empty()) {
    images.cache = cache / "convoy" / source.name;
  }
  if (source.store == ImageStore::packed) return open_packed(images);
  if (source.store == ImageStore::folder) return open_image_folder(images);
  TarOptions tar = options.tar;
  tar.root = options.root;
  return open_tar(tar, images);
}

DataPair verify_images(const DataSource& source, const DataOptions& options) {
  DataPair data = open_images(source, options);
  if (source.store == ImageStore::packed) verify_packed(options.root);
  return data;
}

/// Every file is decoded; pixels are not measured.
SplitCheck check_files(const Dataset& data) {
  const auto threads = static_cast<std::size_t>(cpu_info().cores);
  std::vector<std::vector<std::byte>> buffers(threads);
  run_in_parallel(data.size(), threads, [&](std::size_t i, std::size_t thread) {
    const EncodedImages& contents = *data.files->contents;
    decode_image(contents.read(i, buffers[thread]), contents.name(i));
  });
  return {.count = data.size(),
          .per_class = class_counts(data),
          .pixels = {},
          .channels = {}};
}

SplitCheck count(const Dataset& data) {
  if (data.files) return check_files(data);
  return {data.size(), class_counts(data), pixel_moments(data), channel_moments(data)};
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

DataPair load_place(const DataSource& source, const DataPlace& place) {
  refuse_other_dataset(source, place);
  return {load_half(source, place, place.form->train),
          load_half(source, place, place.form->test)};
}

DataPair load_data(const DataOptions& options) {
  const DataSource& source = find_source(options.name);
  if (source.is_of_files()) return open_images(source, options);
  if (source.forms.empty()) return make_synthetic(options.synthetic);
  return load_place(source, locate_data(source, options.root));
}

DataCheck check_data(const DataOptions& options) {
  const DataSource& source = find_source(options.name);
  if (source.is_of_files()) {
    return describe(verify_images(source, options), options.root);
  }
  if (source.forms.empty()) return describe(make_synthetic(options.synthetic), "");
  const DataPlace place = locate_data(source, options.root);
  const DataPair data = load_place(source, place);
  verify_files(place, "remove the folder and get the dataset again");
  verify_samples(data, source, place.folder);
  return describe(data, place.folder);
}

}  // namespace convoy
