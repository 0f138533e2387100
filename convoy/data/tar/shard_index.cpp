// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/tar/shard_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/base/json.h"
#include "convoy/base/printable.h"
#include "convoy/base/sha256.h"
#include "convoy/base/text.h"
#include "convoy/data/tar/tar_reader.h"
#include "convoy/system/file.h"
#include "convoy/system/mapped_file.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

constexpr std::uint64_t kMostImageBytes = std::uint64_t{1} << 30;
constexpr std::uint64_t kMostLabelBytes = 32;
// The head of an index file: its records begin where they are aligned.
constexpr std::size_t kHeadBytes = 4096;

/// "a/b" and "seg.png" of "a/b.seg.png", in small letters; both empty if there is no
/// such.
struct MemberName {
  std::string key{}, ending{};

  explicit MemberName(const std::string& name) {
    const std::size_t slash = name.rfind('/');
    const std::size_t base = slash == std::string::npos ? 0 : slash + 1;
    const std::size_t dot = name.find('.', base);
    if (dot == std::string::npos || dot == base) return;
    key = name.substr(0, dot);
    ending = name.substr(dot + 1);
    std::ranges::transform(ending, ending.begin(),
                           [](unsigned char c) { return std::tolower(c); });
  }

  bool is_image() const { return ending == "jpg" || ending == "jpeg" || ending == "png"; }
  bool is_label() const { return ending == "cls"; }
};

/// Collects members to samples.
class SampleCollector {
 public:
  explicit SampleCollector(const Shard& shard) : shard_(shard), reader_(shard) {}

  void collect() {
    while (const std::optional<TarMember> member = reader_.next()) add(*member);
    finish();
    if (!records.empty()) return;
    throw bad_member(shard_, "", "no images",
                     "images KEY.jpg, KEY.jpeg or KEY.png and labels KEY.cls");
  }

  std::vector<ShardIndex::Record> records{};
  std::vector<char> names{};

 private:
  void add(const TarMember& member) {
    const MemberName name(member.name);
    if (!name.is_image() && !name.is_label()) return;
    if (name.key != key_) {
      finish();
      start(name.key, member);
    }
    if (name.is_image()) {
      set_image(member);
    } else {
      set_label(member);
    }
  }

  void start(const std::string& key, const TarMember& member) {
    key_ = key;
    if (keys_.insert(key).second) return;
    throw bad_member(shard_, member.name, "a second sample of the same key",
                     "members of one sample next to each other, and no two samples of "
                     "one key");
  }

  void set_image(const TarMember& member) {
    if (image_) {
      throw bad_member(shard_, member.name, "a second image of the sample",
                       "one image and one label per sample");
    }
    if (member.bytes > kMostImageBytes) {
      throw bad_member(shard_, member.name, "an image of " + human_bytes(member.bytes),
                       "images of at most " + human_bytes(kMostImageBytes));
    }
    image_ = member;
  }

  void set_label(const TarMember& member) {
    if (label_) {
      throw bad_member(shard_, member.name, "a second label of the sample",
                       "one image and one label per sample");
    }
    const std::string text =
        member.bytes <= kMostLabelBytes ? reader_.content(member) : "a long text";
    const std::size_t end = text.find_last_not_of(" \t\r\n") + 1;
    std::int32_t label = -1;
    const auto [stopped, error] = std::from_chars(text.data(), text.data() + end, label);
    if (error != std::errc() || stopped != text.data() + end || label < 0 ||
        label >= kMostClasses) {
      throw bad_member(
          shard_, member.name, "the label '" + printable(text) + "'",
          fmt::format("a whole number from 0 and below {}", with_commas(kMostClasses)));
    }
    label_ = label;
    label_name_ = member.name;
  }

  void finish() {
    if (!image_ && !label_) return;
    if (!label_) {
      throw bad_member(shard_, image_->name, "an image without a label",
                       "its label in " + printable(key_) + ".cls, next to it");
    }
    if (!image_) {
      throw bad_member(shard_, label_name_, "a label without an image",
                       "its image in " + printable(key_) + ".jpg, .jpeg or .png");
    }
    records.push_back({image_->offset, static_cast<std::uint32_t>(image_->bytes), *label_,
                       names.size()});
    names.insert(names.end(), image_->name.begin(), image_->name.end());
    names.push_back('\0');
    image_.reset();
    label_.reset();
  }

  const Shard& shard_;
  TarReader reader_;
  std::string key_{}, label_name_{};
  std::set<std::string> keys_{};
  std::optional<TarMember> image_{};
  std::optional<std::int32_t> label_{};
};

}  // namespace

ShardIndex::ShardIndex(const Shard& shard, const fs::path& cache) {
  const std::string& name = shard.name();
  const fs::path file = cache / (sha256_hex(std::as_bytes(std::span(name))) + ".index");
  if (!cache.empty() && read_cache(shard, file)) return;
  SampleCollector samples(shard);
  samples.collect();
  records_ = SharedArray<Record>(std::move(samples.records));
  names_ = SharedArray<char>(std::move(samples.names));
  if (!cache.empty()) write_cache(shard, file);
}

void ShardIndex::write_cache(const Shard& shard, const fs::path& file) const {
  std::string head = json_text({{"shard", shard.name()},
                                {"bytes", shard.mark().bytes},
                                {"version", shard.mark().version},
                                {"samples", size()}}) +
                     "\n";
  if (head.size() > kHeadBytes) return;
  head.resize(kHeadBytes, ' ');
  try {
    make_folders(file.parent_path());
    AtomicFile out(file);
    out.write(head);
    out.write(std::as_bytes(std::span<const Record>(records_)));
    out.write(std::as_bytes(std::span<const char>(names_)));
    out.commit();
  } catch (const InputError&) {
    // A cache that cannot be written only costs time: the shard is read again.
  }
}

/// Whether all records are within the shard and the names.
bool ShardIndex::is_sound(const Shard& shard) const {
  const std::uint64_t all = shard.mark().bytes;
  return !names_.empty() && names_.back() == '\0' &&
         std::ranges::all_of(records_, [&](const Record& record) {
           return record.bytes <= all && record.offset <= all - record.bytes &&
                  record.label >= 0 && record.label < kMostClasses &&
                  record.name < names_.size();
         });
}

/// Returns whether the file is an index of the shard as it is now.
bool ShardIndex::read_cache(const Shard& shard, const fs::path& file) {
  std::error_code missing;
  if (!fs::exists(file, missing)) return false;
  try {
    const auto mapped = std::make_shared<MappedFile>(file);
    const std::span<const std::byte> all = mapped->bytes();
    if (all.size() < kHeadBytes) return false;
    const json head = parse_json({reinterpret_cast<const char*>(all.data()), kHeadBytes},
                                 {.where = file});
    const JsonObject of(head, {.where = file});
    const ShardMark mark{of.whole("bytes"), of.text("version")};
    const std::uint64_t samples = of.whole("samples", 1, all.size() / sizeof(Record));
    const std::span<const std::byte> body = all.subspan(kHeadBytes);
    if (mark != shard.mark() || of.text("shard") != shard.name() ||
        body.size() < samples * sizeof(Record)) {
      return false;
    }
    const auto names = body.subspan(samples * sizeof(Record));
    records_ = SharedArray<Record>(
        {reinterpret_cast<const Record*>(body.data()), samples}, mapped);
    names_ = SharedArray<char>(
        {reinterpret_cast<const char*>(names.data()), names.size()}, mapped);
    return is_sound(shard);
  } catch (const InputError&) {
    return false;  // not an index, or of a version that wrote other fields
  }
}

}  // namespace convoy
