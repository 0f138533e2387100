// SPDX-License-Identifier: Apache-2.0

#include "convoy/acquire/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <span>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/base/text.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& where, const std::string& found) {
  throw InputError(InputKind::data, {.where = where,
                                     .found = found,
                                     .expected = "a .tgz with the dataset's files",
                                     .hint = "get it again, or from another source"});
}

class Reader {
 public:
  explicit Reader(const fs::path& path)
      : path_(path.string()), archive_(archive_read_new()) {
    if (::access(path.c_str(), R_OK) != 0) {
      throw storage_error(path_, "read this file", errno);
    }
    archive_read_support_filter_gzip(archive_.get());
    archive_read_support_format_tar(archive_.get());
    expect(archive_read_open_filename(archive_.get(), path.c_str(), kBlock));
  }

  /// The next entry, or nullptr after the last.
  archive_entry* next() {
    archive_entry* entry = nullptr;
    const int result = archive_read_next_header(archive_.get(), &entry);
    if (result == ARCHIVE_EOF) return nullptr;
    expect(result);
    return entry;
  }

  /// Returns the content of the entry that was returned last.
  std::vector<std::byte> content(std::size_t limit) {
    std::vector<std::byte> bytes;
    std::array<std::byte, kBlock> block;
    la_ssize_t got = 0;
    while ((got = archive_read_data(archive_.get(), block.data(), block.size())) > 0) {
      const auto piece = std::span(block).first(static_cast<std::size_t>(got));
      if (piece.size() > limit - bytes.size()) {
        refuse(path_, "an entry of more than " + with_commas(limit) + " bytes");
      }
      bytes.insert(bytes.end(), piece.begin(), piece.end());
    }
    expect(static_cast<int>(got));
    return bytes;
  }

 private:
  static constexpr std::size_t kBlock = 1 << 16;

  struct Free {
    void operator()(archive* a) const { archive_read_free(a); }
  };

  void expect(int result) const {
    if (result == ARCHIVE_OK) return;
    const char* why = archive_error_string(archive_.get());
    refuse(path_, why != nullptr ? why : "a damaged archive");
  }

  std::string path_;
  std::unique_ptr<archive, Free> archive_;
};

}  // namespace

std::map<std::string, std::vector<std::byte>> read_archive(
    const fs::path& path, const std::vector<DataFile>& files) {
  Reader reader(path);
  std::map<std::string, std::vector<std::byte>> contents;
  while (archive_entry* entry = reader.next()) {
    const char* pathname = archive_entry_pathname(entry);
    if (pathname == nullptr || archive_entry_filetype(entry) != AE_IFREG) continue;
    const std::string name = fs::path(pathname).filename().string();
    const auto file = std::ranges::find(files, name, &DataFile::name);
    if (file != files.end()) contents[name] = reader.content(file->bytes);
  }
  return contents;
}

}  // namespace convoy
