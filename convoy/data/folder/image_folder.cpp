// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/folder/image_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <sstream>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/data/checks.h"
#include "convoy/data/folder/folder_index.h"
#include "convoy/system/file.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

class FolderImages final : public EncodedImages {
 public:
  explicit FolderImages(FolderIndex index) : index_(std::move(index)) {}

  std::string name(std::size_t sample) const override { return index_.path(sample); }

  std::span<const std::byte> read(std::size_t sample,
                                  std::vector<std::byte>& buffer) const override {
    buffer = read_bytes(index_.path(sample));
    return buffer;
  }

 private:
  FolderIndex index_;
};

FolderIndex index_of(const ImageFolderOptions& options, const char* half) {
  const fs::path folder = options.root / half;
  std::error_code ignored;
  if (!options.root.empty() && fs::is_directory(folder, ignored)) {
    return {folder, options.cache};
  }
  throw InputError(
      InputKind::storage,
      {.where = "data.root",
       .found = options.root.empty() ? "no folder" : "no folder " + folder.string(),
       .expected = "a folder with the folders train and val, which have one "
                   "folder of images per class",
       .hint = "data.root=FOLDER"});
}

std::vector<std::string> folder_names(const FolderIndex& index) {
  std::vector<std::string> names;
  for (const FolderIndex::Class& of : index.classes()) names.push_back(of.name);
  return names;
}

/// The first class that only one of the halves has.
void check_same_classes(const std::vector<std::string>& train,
                        const std::vector<std::string>& val, const fs::path& root) {
  std::vector<std::string> different;
  std::ranges::set_symmetric_difference(train, val, std::back_inserter(different));
  if (different.empty()) return;
  const bool only_val = std::ranges::binary_search(val, different.front());
  throw bad_data(root / (only_val ? "train" : "val"),
                 "no folder " + different.front() + ", which " +
                     (only_val ? "val" : "train") + " has",
                 "the same classes in train and val");
}

fs::path synset_file(const fs::path& root) {
  for (const char* name : {"synset_words.txt", "LOC_synset_mapping.txt"}) {
    std::error_code ignored;
    if (fs::exists(root / name, ignored)) return root / name;
  }
  return {};
}

std::map<std::string, std::string> read_synsets(const fs::path& file) {
  constexpr std::size_t kMostBytes = 1 << 24;
  std::map<std::string, std::string> names;
  std::istringstream text(read_text(file, kMostBytes));
  for (std::string line; std::getline(text, line);) {
    if (line.ends_with('\r')) line.pop_back();
    const std::size_t blank = line.find(' ');
    if (blank != std::string::npos) names[line.substr(0, blank)] = line.substr(blank + 1);
  }
  return names;
}

std::vector<std::string> class_names(const std::vector<std::string>& folders,
                                     const fs::path& root) {
  const fs::path file = synset_file(root);
  if (file.empty()) return folders;
  const std::map<std::string, std::string> known = read_synsets(file);
  std::vector<std::string> names;
  for (const std::string& folder : folders) {
    const auto found = known.find(folder);
    if (found == known.end()) {
      throw bad_data(file, "no line of " + folder, "a line for each folder of a class");
    }
    names.push_back(found->second);
  }
  return names;
}

Dataset dataset_of(FolderIndex index, const std::vector<std::string>& classes,
                   const ImageFolderOptions& options) {
  SharedLabels labels = index.labels();
  return dataset_of_files("imagefolder", classes, std::move(labels),
                          std::make_shared<FolderImages>(std::move(index)), options);
}

}  // namespace

Dataset dataset_of_files(const std::string& name, const std::vector<std::string>& classes,
                         SharedLabels labels,
                         std::shared_ptr<const EncodedImages> contents,
                         const ImageFolderOptions& options) {
  Dataset data{.name = name,
               .shape = {3, options.crop, options.crop},
               .classes = classes,
               .labels = std::move(labels)};
  data.files = ImageFiles{
      .contents = std::move(contents),
      .decoding = options.decoding,
      .short_side = options.short_side,
      .damaged = options.skip_damaged ? std::make_shared<DamagedFiles>() : nullptr};
  return data;
}

DataPair open_image_folder(const ImageFolderOptions& options) {
  FolderIndex train = index_of(options, "train"), val = index_of(options, "val");
  const std::vector<std::string> folders = folder_names(train);
  check_same_classes(folders, folder_names(val), options.root);
  const std::vector<std::string> classes = class_names(folders, options.root);
  return {dataset_of(std::move(train), classes, options),
          dataset_of(std::move(val), classes, options)};
}

}  // namespace convoy
