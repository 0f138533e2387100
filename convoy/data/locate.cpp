// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/locate.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/system/user_cache.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSystemFolder = "/usr/share/datasets";

/// Returns the value of an environment variable, or nothing if it is unset or empty.
fs::path environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// The dataset's own subfolder is searched first: MNIST and Fashion-MNIST have the same
/// file names, so files beside it may belong to another dataset.
std::vector<fs::path> folders_under(const fs::path& root, const DataSource& source) {
  return {root / source.name, root};
}

fs::path with_suffix(fs::path path, const char* suffix) { return path += suffix; }

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

bool holds_any_file(const fs::path& folder, const DataForm& form) {
  return std::ranges::any_of(form.files(), [&](const DataFile& file) {
    const fs::path path = folder / file.name;
    return is_there(path) || is_there(with_suffix(path, ".gz"));
  });
}

std::optional<DataPlace> first_place(const std::vector<fs::path>& folders,
                                     const DataSource& source) {
  for (const fs::path& folder : folders) {
    if (const auto place = find_placement(folder, source)) return place;
  }
  return std::nullopt;
}

/// Formats as "a, ... or b, ...".
std::string files_looked_for(const DataSource& source) {
  std::vector<std::string> names;
  for (const DataForm& form : source.forms) {
    names.push_back(form.train.front().name + ", ...");
  }
  return join(names, " or ") + ", plain or .gz";
}

std::string ways_to_get(const DataSource& source) {
  return source.how_to_get + ", or name its folder with data.root or CONVOY_DATA";
}

DataPlace locate_under(const DataSource& source, const fs::path& root) {
  if (const auto place = first_place(folders_under(root, source), source)) return *place;
  throw InputError(
      InputKind::storage,
      {.where = root.string(),
       .found = is_there(root) ? "none of the files" : "no such folder",
       .expected = "the files of " + source.name + ": " + files_looked_for(source),
       .hint = ways_to_get(source)});
}

}  // namespace

std::vector<fs::path> data_folders(const DataSource& source) {
  std::vector<fs::path> folders;
  if (const fs::path data = environment("CONVOY_DATA"); !data.empty()) {
    folders = folders_under(data, source);
  }
  const fs::path cache = cache_folder(source);
  if (!cache.empty()) folders.push_back(cache);
  if (!source.system_folder.empty()) {
    folders.push_back(fs::path(kSystemFolder) / source.system_folder);
  }
  return folders;
}

fs::path cache_folder(const DataSource& source) {
  const fs::path cache = user_cache();
  return cache.empty() ? cache : cache / "convoy" / source.name;
}

std::optional<DataPlace> find_placement(const fs::path& folder,
                                        const DataSource& source) {
  for (const DataForm& form : source.forms) {
    if (holds_any_file(folder, form)) return DataPlace{folder, &form};
    if (form.folder.empty()) continue;
    const fs::path below = folder / form.folder;
    if (holds_any_file(below, form)) return DataPlace{below, &form};
  }
  return std::nullopt;
}

std::optional<DataPlace> search_data(const DataSource& source) {
  return first_place(data_folders(source), source);
}

DataPlace locate_data(const DataSource& source, const fs::path& root) {
  if (!root.empty()) return locate_under(source, root);
  if (const auto place = search_data(source)) return *place;

  std::vector<std::string> looked;
  for (const fs::path& folder : data_folders(source)) looked.push_back(folder.string());
  throw InputError(InputKind::storage, {.where = "dataset " + source.name,
                                        .found = "nothing in " + join(looked),
                                        .expected = "its files in one of these folders",
                                        .hint = ways_to_get(source)});
}

fs::path file_in(const fs::path& folder, const DataFile& file) {
  const fs::path plain = folder / file.name;
  if (is_there(plain)) return plain;
  const fs::path packed = with_suffix(plain, ".gz");
  if (is_there(packed)) return packed;
  throw InputError(InputKind::storage, {.where = plain.string(),
                                        .found = "no such file",
                                        .expected = "this file, plain or .gz",
                                        .hint = "get the dataset again"});
}

}  // namespace convoy
