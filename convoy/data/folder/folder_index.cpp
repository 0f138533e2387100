// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/folder/folder_index.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <ctime>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/base/json.h"
#include "convoy/base/sha256.h"
#include "convoy/data/checks.h"
#include "convoy/system/file.h"
#include "convoy/system/mapped_file.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

constexpr std::array kReadable = {".jpg", ".jpeg", ".png"};
constexpr std::array kOtherImages = {".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp"};

bool ends_with_any(const std::string& name, const auto& endings) {
  const auto dot = name.rfind('.');
  if (dot == std::string::npos) return false;
  std::string ending = name.substr(dot);
  std::ranges::transform(ending, ending.begin(),
                         [](unsigned char c) { return std::tolower(c); });
  return std::ranges::find(endings, ending) != endings.end();
}

/// Calls `use` with every entry of a folder, in any order.
template <class Use>
void for_each_entry(const fs::path& folder, const Use& use) {
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    use(*entries);
  }
  if (error) throw storage_error(folder, "list this folder", error.value());
}

bool is_folder(const fs::directory_entry& entry) {
  std::error_code ignored;
  return entry.is_directory(ignored);
}

FolderIndex::Class class_folder(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    throw storage_error(path, "list this folder", errno);
  }
  return {.name = path.filename(),
          .time = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 +
                  status.st_mtim.tv_nsec,
          .bytes = static_cast<std::uint64_t>(status.st_size)};
}

std::vector<FolderIndex::Class> class_folders(const fs::path& folder) {
  std::vector<FolderIndex::Class> classes;
  for_each_entry(folder, [&](const fs::directory_entry& entry) {
    if (is_folder(entry)) classes.push_back(class_folder(entry.path()));
  });
  if (classes.empty()) {
    throw bad_data(folder, "no subfolders", "one subfolder of images per class");
  }
  std::ranges::sort(classes, {}, &FolderIndex::Class::name);
  return classes;
}

/// The images of one folder by name, sorted, and the folders inside it.
struct Listing {
  std::vector<std::string> images, folders;
};

Listing list_folder(const fs::path& folder) {
  Listing listing;
  for_each_entry(folder, [&](const fs::directory_entry& entry) {
    std::string name = entry.path().filename();
    // A million entries are not each looked up: what has the name of an image is one.
    if (ends_with_any(name, kReadable)) {
      listing.images.push_back(std::move(name));
    } else if (ends_with_any(name, kOtherImages)) {
      throw bad_data(entry.path(), "an image of a format that is not read",
                     "images as .jpg, .jpeg or .png");
    } else if (is_folder(entry)) {
      listing.folders.push_back(std::move(name));
    }
  });
  std::ranges::sort(listing.images);
  std::ranges::sort(listing.folders);
  return listing;
}

/// By folder, the images in `folder`, which is `name` below `root`, and in those inside
/// it.
using ImagesOf = std::map<std::string, std::vector<std::string>>;

void add_images(const fs::path& root, const std::string& name, ImagesOf& images) {
  Listing listing = list_folder(root / name);
  images[name] = std::move(listing.images);
  for (const std::string& inner : listing.folders) {
    add_images(root, name + '/' + inner, images);
  }
}

json to_json(const FolderIndex::Class& of) {
  return {{"name", of.name}, {"time", of.time}, {"bytes", of.bytes}, {"files", of.files}};
}

/// A file that is added right after the folder was listed may leave its time as it is, on
/// file systems with coarse clocks.
bool is_settled(const FolderIndex::Class& of) {
  constexpr std::int64_t kCoarsest = 2'000'000'000;
  return of.time + kCoarsest < std::int64_t{std::time(nullptr)} * 1'000'000'000;
}

}  // namespace

FolderIndex::FolderIndex(fs::path folder, const fs::path& cache)
    : folder_(std::move(folder)), classes_(class_folders(folder_)) {
  const std::string path = fs::absolute(folder_).lexically_normal();
  const fs::path file = cache / (sha256_hex(std::as_bytes(std::span(path))) + ".index");
  if (cache.empty() || !read_cache(file)) {
    list();
    const bool is_safe = !has_subfolders_ && std::ranges::all_of(classes_, is_settled);
    if (!cache.empty() && is_safe) write_cache(file);
  }
  find_starts();
}

/// The order of files is that of Python's sorted(os.walk(class)).
void FolderIndex::list() {
  std::vector<char> names;
  for (Class& of : classes_) {
    ImagesOf images;
    add_images(folder_, of.name, images);
    has_subfolders_ |= images.size() > 1;
    of.files = 0;
    for (const auto& [folder, files] : images) {
      for (const std::string& file : files) {
        const std::string path = folder + '/' + file + '\0';
        names.insert(names.end(), path.begin(), path.end());
      }
      of.files += files.size();
    }
    if (of.files > 0) continue;
    throw bad_data(folder_ / of.name, "no images",
                   "at least one image in the folder of a class",
                   "add images, or remove the folder");
  }
  names_ = SharedArray<char>(std::move(names));
}

std::size_t FolderIndex::file_count() const {
  std::size_t count = 0;
  for (const Class& of : classes_) count += of.files;
  return count;
}

void FolderIndex::find_starts() {
  if (names_.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw bad_data(folder_, "names of images of more than 4 GB", "a smaller folder");
  }
  starts_.reserve(file_count());
  const std::string_view names(names_.data(), names_.size());
  for (std::size_t at = 0; at < names.size(); at = names.find('\0', at) + 1) {
    starts_.push_back(static_cast<std::uint32_t>(at));
  }
}

fs::path FolderIndex::path(std::size_t file) const {
  return folder_ / &names_[starts_[file]];
}

std::vector<std::int32_t> FolderIndex::labels() const {
  std::vector<std::int32_t> labels;
  labels.reserve(size());
  for (std::size_t label = 0; label < classes_.size(); ++label) {
    labels.insert(labels.end(), classes_[label].files, static_cast<std::int32_t>(label));
  }
  return labels;
}

void FolderIndex::write_cache(const fs::path& file) const {
  json folders = json::array();
  for (const Class& of : classes_) folders.push_back(to_json(of));
  try {
    make_folders(file.parent_path());
    AtomicFile out(file);
    out.write(json_text({{"classes", folders}}) + "\n");
    out.write(std::as_bytes(std::span<const char>(names_)));
    out.commit();
  } catch (const InputError&) {
    // A cache that cannot be written only costs time: the folder is listed again.
  }
}

/// Returns whether `known` are the classes as they are now, whose files it then counts.
bool FolderIndex::has_same_classes(const json& known, const fs::path& file) {
  if (known.size() != classes_.size()) return false;
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    const JsonObject of(known[i], {.where = file});
    const Class then{.name = of.text("name"),
                     .time = static_cast<std::int64_t>(of.whole("time")),
                     .bytes = of.whole("bytes")};
    if (!classes_[i].is_same_folder(then)) return false;
    classes_[i].files = of.whole("files");
  }
  return true;
}

/// Returns whether the file is an index of the folder as it is now.
bool FolderIndex::read_cache(const fs::path& file) {
  std::error_code missing;
  if (!fs::exists(file, missing)) return false;
  try {
    const auto mapped = std::make_shared<MappedFile>(file);
    const std::string_view text(reinterpret_cast<const char*>(mapped->bytes().data()),
                                mapped->bytes().size());
    const std::size_t line = std::min(text.find('\n'), text.size());
    const json header = parse_json(text.substr(0, line), {.where = file});
    if (!has_same_classes(JsonObject(header, {.where = file}).field("classes"), file)) {
      return false;
    }
    const std::string_view names = text.substr(std::min(line + 1, text.size()));
    if (!names.ends_with('\0') ||
        static_cast<std::size_t>(std::ranges::count(names, '\0')) != file_count()) {
      return false;
    }
    names_ = SharedArray<char>(std::span(names), mapped);
  } catch (const InputError&) {
    return false;  // not an index, or of a version that wrote other fields
  }
  return true;
}

}  // namespace convoy
