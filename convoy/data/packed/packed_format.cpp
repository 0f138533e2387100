// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/packed/packed_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "convoy/base/digest.h"
#include "convoy/base/error.h"
#include "convoy/base/json.h"
#include "convoy/base/sha256.h"
#include "convoy/base/text.h"
#include "convoy/data/checks.h"
#include "convoy/data/labels.h"
#include "convoy/s3/source_file.h"
#include "convoy/system/cpu.h"
#include "convoy/system/tasks/parallel_tasks.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

constexpr std::string_view kMagic = "convoypk";
constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kDigestDigits = 64;
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;  // read at once for a digest
constexpr const char* kAgain = "remove the file and pack the dataset again";

/// The numbers of a header, in its order.
struct PackedHeader {
  std::uint64_t version = kVersion, records = 0, train = 0, val = 0, description = 0;
};
static_assert(sizeof(PackedRecord) == 24);

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// An open file, of which header, records and description are checked. It is read rather
/// than mapped: a file that shrinks meanwhile is an error, and not the end of the
/// process.
class PackedFile {
 public:
  explicit PackedFile(const fs::path& path) : path_(path.string()), file_(path) {
    read_header();
    check_length();
    check_digest();
    check_records();
  }

  const std::string& path() const { return path_; }
  std::size_t size() const { return header_.train + header_.val; }
  std::size_t train_size() const { return header_.train; }
  const PackedRecord& record(std::size_t sample) const { return records_[sample]; }

  /// In `buffer`, until it changes.
  std::span<const std::byte> image(std::size_t sample,
                                   std::vector<std::byte>& buffer) const {
    buffer.resize(records_[sample].bytes);
    file_.read(records_[sample].offset, buffer);
    return buffer;
  }

  std::string name(std::size_t sample) const {
    const bool is_train = sample < header_.train;
    return fmt::format("{}: sample {} of {}", path_,
                       is_train ? sample : sample - header_.train,
                       is_train ? "train" : "val");
  }

  std::vector<std::string> classes() const {
    const JsonSource source{path_, "the description of a packed dataset", kAgain};
    std::vector<std::byte> text(static_cast<std::size_t>(header_.description));
    file_.read(file_.size() - text.size(), text);
    const json all = parse_json(text_of(text), source);
    std::vector<std::string> names;
    for (const json& name : JsonObject(all, source).field("classes")) {
      if (!name.is_string()) refuse("a class without a name", "names of classes");
      names.push_back(name.get<std::string>());
    }
    return names;
  }

 private:
  [[noreturn]] void refuse(const std::string& found, const std::string& expected) const {
    throw bad_data(path_, found, expected, kAgain);
  }

  void read_header() {
    std::vector<std::byte> bytes(
        std::min<std::uint64_t>(file_.size(), kPackedHeaderBytes));
    file_.read(0, bytes);
    const std::string_view text = text_of(bytes);
    if (!text.starts_with(kMagic) || text.size() < kPackedHeaderBytes) {
      throw bad_data(path_, text.empty() ? "an empty file" : "a file of another kind",
                     "a file that `convoy data pack` has written",
                     "data.root=FILE with data=packed");
    }
    digest_ = text.substr(kMagic.size() + sizeof(header_), kDigestDigits);
    std::memcpy(&header_, text.data() + kMagic.size(), sizeof(header_));
    if (header_.version == kVersion) return;
    refuse(fmt::format("version {}", header_.version),
           fmt::format("version {}", kVersion));
  }

  void check_length() {
    using Wide = unsigned __int128;
    const std::uint64_t all = file_.size();
    const Wide records = Wide{header_.train} + header_.val;
    const Wide end =
        header_.records + records * sizeof(PackedRecord) + header_.description;
    if (end != all || header_.records < kPackedHeaderBytes) {
      refuse(with_commas(all) + " bytes", "as many as its header says");
    }
    if (header_.train == 0 || header_.val == 0) {
      refuse("no samples of " + std::string(header_.train == 0 ? "train" : "val"),
             "at least one");
    }
    records_.resize(static_cast<std::size_t>(records));
    file_.read(header_.records, std::as_writable_bytes(std::span(records_)));
  }

  void check_digest() const {
    Sha256 digest;
    std::vector<std::byte> piece;
    for (std::uint64_t at = header_.records; at < file_.size(); at += piece.size()) {
      piece.resize(std::min<std::uint64_t>(kPieceBytes, file_.size() - at));
      file_.read(at, piece);
      digest.add(piece);
    }
    const std::string found = digest.hex();
    if (found == digest_) return;
    refuse("records with SHA-256 " + found, "those that its header says");
  }

  void check_records() const {
    for (std::size_t i = 0; i < records_.size(); ++i) {
      const PackedRecord& record = records_[i];
      if (record.offset >= kPackedHeaderBytes && record.offset <= header_.records &&
          record.bytes <= header_.records - record.offset) {
        continue;
      }
      refuse("an image outside of the file, of " + name(i), "images in the file");
    }
  }

  std::string path_;
  SourceFile file_;
  PackedHeader header_;
  std::string digest_{};  // of records and description, as the header has it
  std::vector<PackedRecord> records_;
};

/// One half.
class PackedImages final : public EncodedImages {
 public:
  PackedImages(std::shared_ptr<const PackedFile> file, std::size_t first)
      : file_(std::move(file)), first_(first) {}

  std::string name(std::size_t sample) const override {
    return file_->name(first_ + sample);
  }

  std::span<const std::byte> read(std::size_t sample,
                                  std::vector<std::byte>& buffer) const override {
    return file_->image(first_ + sample, buffer);
  }

 private:
  std::shared_ptr<const PackedFile> file_;
  std::size_t first_;
};

Dataset half_of(const std::shared_ptr<const PackedFile>& file, std::size_t first,
                std::size_t end, const ImageFolderOptions& options) {
  std::vector<std::int32_t> labels;
  for (std::size_t i = first; i < end; ++i) labels.push_back(file->record(i).label);
  const std::vector<std::string> classes = file->classes();
  check_labels(labels, classes.size(), file->path());
  return dataset_of_files("packed", classes, std::move(labels),
                          std::make_shared<PackedImages>(file, first), options);
}

}  // namespace

std::uint64_t packed_checksum(std::span<const std::byte> bytes) {
  Digest digest(DigestKind::sha256);
  digest.add(bytes);
  const std::vector<std::byte> all = digest.finish();
  std::uint64_t first = 0;
  std::memcpy(&first, all.data(), sizeof(first));
  return first;
}

PackedEnds packed_ends(std::uint64_t records_begin, std::span<const PackedRecord> train,
                       std::span<const PackedRecord> val, const json& description) {
  PackedEnds ends;
  for (const auto half : {train, val}) ends.tail += text_of(std::as_bytes(half));
  const std::string text = json_text(description);
  ends.tail += text;
  const PackedHeader header{.records = records_begin,
                            .train = train.size(),
                            .val = val.size(),
                            .description = text.size()};
  ends.header = kMagic;
  ends.header += text_of(std::as_bytes(std::span(&header, 1)));
  ends.header += sha256_hex(std::as_bytes(std::span(ends.tail)));
  ends.header.resize(kPackedHeaderBytes, '\0');
  return ends;
}

DataPair open_packed(const ImageFolderOptions& options) {
  if (options.root.empty()) {
    throw InputError(InputKind::storage,
                     {.where = "data.root",
                      .found = "no file",
                      .expected = "a file that `convoy data pack` has written",
                      .hint = "data.root=FILE"});
  }
  const auto file = std::make_shared<const PackedFile>(options.root);
  return {half_of(file, 0, file->train_size(), options),
          half_of(file, file->train_size(), file->size(), options)};
}

void verify_packed(const fs::path& path) {
  const PackedFile file(path);
  const auto threads = static_cast<std::size_t>(cpu_info().cores);
  std::vector<std::vector<std::byte>> buffers(threads);
  run_in_parallel(file.size(), threads, [&](std::size_t i, std::size_t thread) {
    const std::span<const std::byte> image = file.image(i, buffers[thread]);
    if (packed_checksum(image) == file.record(i).checksum) return;
    throw bad_data(file.name(i), "an image whose checksum is wrong", "undamaged images",
                   kAgain);
  });
}

}  // namespace convoy
