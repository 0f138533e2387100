// SPDX-License-Identifier: Apache-2.0
//
// An event parser reads the JSON instead of building a tree: nlohmann's is iterative, so
// no nesting depth overflows the stack, and the first event that the format does not
// allow ends the parsing. Nothing is allocated for what is refused.

#include "convoy/checkpoint/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/base/text.h"

namespace convoy {
namespace {

constexpr std::size_t kMaxDimensions = 64;

constexpr std::pair<const char*, std::size_t> kDtypes[] = {
    {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E4M3", 1}, {"F8_E5M2", 1},
    {"I16", 2},  {"U16", 2}, {"F16", 2}, {"BF16", 2},    {"I32", 4},
    {"U32", 4},  {"F32", 4}, {"I64", 8}, {"U64", 8},     {"F64", 8}};

std::optional<std::size_t> bytes_of(const std::string& dtype) {
  for (const auto& [name, bytes] : kDtypes) {
    if (dtype == name) return bytes;
  }
  return std::nullopt;
}

/// Receives nlohmann's events and collects entries. That library requires the method
/// names.
class HeaderReader {
 public:
  explicit HeaderReader(const std::string& path) : path_(path) {}

  SafetensorsHeader take() { return std::move(header_); }

  bool null() { unexpected("null"); }
  bool boolean(bool) { unexpected("true or false"); }
  bool number_integer(std::int64_t) { unexpected("a negative number"); }
  bool number_float(double, const std::string&) {
    unexpected("a fraction or a number beyond 64 bits");
  }
  bool binary(nlohmann::json::binary_t&) { unexpected("binary data"); }

  bool number_unsigned(std::uint64_t value) {
    if (inside_ != Inside::list) unexpected("a number");
    if (list_.size() == kMaxDimensions) {
      unexpected(fmt::format("more than {} numbers", kMaxDimensions));
    }
    list_.push_back(value);
    return true;
  }

  bool string(std::string& value) {
    if (inside_ == Inside::metadata) {
      header_.metadata[key_] = std::move(value);
    } else if (inside_ == Inside::tensor && key_ == "dtype") {
      entry_.dtype = std::move(value);
    } else {
      unexpected("a string");
    }
    return true;
  }

  bool start_object(std::size_t) {
    if (inside_ == Inside::nothing) return enter(Inside::file);
    if (inside_ != Inside::file) unexpected("an object");
    entry_ = {.name = name_, .dtype = {}, .shape = {}, .bytes = {}};
    fields_.clear();
    return enter(name_ == "__metadata__" ? Inside::metadata : Inside::tensor);
  }

  bool key(std::string& key) {
    if (inside_ == Inside::file) return begin_entry(key);
    key_ = std::move(key);
    if (inside_ == Inside::metadata) {
      if (header_.metadata.contains(key_)) {
        refuse_tensors(here(), "the key " + printable_name(key_) + " twice",
                       "each key once");
      }
    } else if (std::ranges::count(fields_, key_) > 0) {
      refuse_tensors(here(), printable_name(key_) + " twice", "each field once");
    } else if (key_ != "dtype" && key_ != "shape" && key_ != "data_offsets") {
      refuse_tensors(here(), "a field " + printable_name(key_),
                     "dtype, shape and data_offsets");
    } else {
      fields_.push_back(key_);
    }
    return true;
  }

  bool end_object() {
    if (inside_ == Inside::file) return enter(Inside::nothing);
    if (inside_ == Inside::tensor) finish_tensor();
    return enter(Inside::file);
  }

  bool start_array(std::size_t) {
    if (inside_ != Inside::tensor || key_ == "dtype") unexpected("a list");
    list_.clear();
    return enter(Inside::list);
  }

  bool end_array() {
    if (key_ == "shape") {
      entry_.shape.assign(list_.begin(), list_.end());
    } else if (list_.size() == 2) {
      entry_.bytes = {list_[0], list_[1]};
    } else {
      refuse_tensors(here(), fmt::format("{} data_offsets", list_.size()),
                     "two: begin and end");
    }
    return enter(Inside::tensor);
  }

  bool parse_error(std::size_t position, const std::string&, const std::exception&) {
    refuse_tensors(header_place(path_), fmt::format("no valid JSON at byte {}", position),
                   "a JSON object in UTF-8", kDamagedTensors);
  }

 private:
  enum class Inside { nothing, file, metadata, tensor, list };

  bool enter(Inside inside) {
    inside_ = inside;
    return true;
  }

  bool begin_entry(std::string& name) {
    name_ = std::move(name);
    const bool again = name_ == "__metadata__" ? std::exchange(has_metadata_, true)
                                               : header_.index.contains(name_);
    if (again) refuse_tensors(here(), "the name twice", "each name once");
    return true;
  }

  void finish_tensor() {
    if (fields_.size() != 3) {
      refuse_tensors(here(), fields_.empty() ? "no fields" : "only " + join(fields_),
                     "dtype, shape and data_offsets");
    }
    header_.index.emplace(entry_.name, header_.tensors.size());
    header_.tensors.push_back(std::move(entry_));
  }

  std::string here() const {
    return inside_ == Inside::nothing ? header_place(path_) : tensor_place(path_, name_);
  }

  [[noreturn]] void unexpected(const std::string& found) const {
    switch (inside_) {
      case Inside::nothing:
        refuse_tensors(here(), found, "a JSON object", kDamagedTensors);
      case Inside::file:
        refuse_tensors(here(), found, "an object");
      case Inside::metadata:
        refuse_tensors(here(), found + " for " + printable_name(key_), "a string");
      case Inside::tensor:
        refuse_tensors(here(), found + " for " + key_,
                       "dtype: string; shape, data_offsets: lists");
      case Inside::list:
        refuse_tensors(here(), found + " in " + key_,
                       fmt::format("at most {} whole numbers from 0", kMaxDimensions));
    }
    check(false, "every place in a header has its message");
    std::abort();
  }

  const std::string& path_;
  SafetensorsHeader header_;
  Inside inside_ = Inside::nothing;
  bool has_metadata_ = false;
  std::string name_;                 // of the entry
  std::string key_;                  // in the entry
  std::vector<std::string> fields_;  // the entry's keys so far
  TensorEntry entry_;
  std::vector<std::uint64_t> list_;
};

void check_size(const std::string& path, const TensorEntry& tensor) {
  const std::string where = tensor_place(path, tensor.name);
  const auto bytes = bytes_of(tensor.dtype);
  if (!bytes) {
    refuse_tensors(where, "dtype " + printable_name(tensor.dtype),
                   "a dtype of safetensors, e.g. F32");
  }
  const auto count = element_count(tensor.shape);
  std::size_t size = 0;
  if (!count || __builtin_mul_overflow(*count, *bytes, &size)) {
    refuse_tensors(where, fmt::format("shape [{}]", fmt::join(tensor.shape, ", ")),
                   "a size below 2^64 bytes");
  }
  const auto [begin, end] = tensor.bytes;
  if (begin > end || end - begin != size) {
    refuse_tensors(where, fmt::format("data_offsets [{}, {}]", begin, end),
                   fmt::format("{} bytes for {} [{}]", size, tensor.dtype,
                               fmt::join(tensor.shape, ", ")));
  }
}

/// Throws unless the tensors, ordered by offset, cover the bytes from 0 to `size` without
/// gaps or overlaps.
void check_cover(const std::string& path, std::span<const TensorEntry> tensors,
                 std::size_t size) {
  std::vector<const TensorEntry*> sorted;
  for (const TensorEntry& tensor : tensors) sorted.push_back(&tensor);
  std::ranges::sort(sorted, {}, [](const TensorEntry* tensor) {
    return std::pair(tensor->bytes.begin, tensor->bytes.end);
  });
  std::size_t covered = 0;
  for (const TensorEntry* tensor : sorted) {
    const std::size_t begin = tensor->bytes.begin, end = tensor->bytes.end;
    const auto refuse = [&](const char* what, const std::string& expected) {
      refuse_tensors(tensor_place(path, tensor->name),
                     fmt::format("data_offsets [{}, {}], {}", begin, end, what),
                     expected);
    };
    if (end > size) refuse("beyond the file", fmt::format("an end up to {}", size));
    if (begin < covered) refuse("an overlap", "each byte in one tensor");
    if (begin > covered) refuse("after a gap", fmt::format("a begin of {}", covered));
    covered = end;
  }
  if (covered < size) {
    refuse_tensors(path + ": end", fmt::format("{} bytes in no tensor", size - covered),
                   "each byte in one tensor", kDamagedTensors);
  }
}

}  // namespace

void refuse_tensors(std::string where, std::string found, std::string expected,
                    std::string hint) {
  throw InputError(InputKind::data, {.where = std::move(where),
                                     .found = std::move(found),
                                     .expected = std::move(expected),
                                     .hint = std::move(hint)});
}

std::string printable_name(std::string text) {
  constexpr std::size_t kLongest = 80;
  if (text.size() > kLongest) {
    std::size_t end = kLongest;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    text.replace(end, std::string::npos, "...");
  }
  std::ranges::replace_if(
      text, [](char c) { return (c >= 0 && c < ' ') || c == 0x7F; }, '?');
  return text;
}

std::string header_place(const std::string& path) { return path + ": header"; }
std::string tensor_place(const std::string& path, const std::string& name) {
  return path + ": tensor " + printable_name(name);
}

std::optional<std::size_t> element_count(std::span<const std::size_t> shape) {
  std::size_t count = 1;
  for (const std::size_t extent : shape) {
    if (__builtin_mul_overflow(count, extent, &count)) return std::nullopt;
  }
  return count;
}

SafetensorsHeader parse_safetensors_header(const std::string& json,
                                           const std::string& path,
                                           std::size_t data_size) {
  // nlohmann's parser takes a zero byte for the end of the text, whatever follows it.
  if (json.empty() || json[0] != '{' || json.find('\0') != std::string::npos) {
    refuse_tensors(header_place(path), "no JSON object", "a JSON object in UTF-8",
                   kDamagedTensors);
  }
  HeaderReader reader(path);
  nlohmann::json::sax_parse(json, &reader);
  SafetensorsHeader header = reader.take();
  for (const TensorEntry& tensor : header.tensors) check_size(path, tensor);
  check_cover(path, header.tensors, data_size);
  return header;
}

}  // namespace convoy
