// SPDX-License-Identifier: Apache-2.0

#include "convoy/checkpoint/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "convoy/base/error.h"
#include "convoy/base/json.h"
#include "convoy/base/sha256.h"
#include "convoy/base/text.h"
#include "convoy/system/file.h"

namespace convoy {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr std::uint64_t kMaxHeader = 100'000'000;
constexpr std::size_t kLengthBytes = sizeof(std::uint64_t);

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

File open_file(const std::string& path) {
  expect_regular_file(path);
  File file(std::fopen(path.c_str(), "rbe"));
  if (!file) throw storage_error(path, "read this file", errno);
  return file;
}

/// Takes the file's size first, so that nothing is allocated for an impossible header.
std::uint64_t size_of(const std::string& path) {
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path, error);
  if (error) throw storage_error(path, "read this file", error.value());
  return size;
}

template <class Container>
Container read_block(const File& file, const std::string& path, std::size_t size) {
  Container block(size, {});
  if (std::fread(block.data(), 1, size, file.get()) == size) return block;
  if (std::ferror(file.get())) throw storage_error(path, "read this file", errno);
  refuse_tensors(path + ": end", "an unexpected end of file",
                 "a file that no process is writing");
}

std::uint64_t read_header_length(const File& file, const std::string& path,
                                 std::uint64_t file_size) {
  if (file_size < kLengthBytes) {
    refuse_tensors(header_place(path), fmt::format("a file of {} bytes", file_size),
                   "at least 8 bytes", kDamagedTensors);
  }
  std::uint64_t length = 0;
  const auto bytes = read_block<std::string>(file, path, kLengthBytes);
  std::memcpy(&length, bytes.data(), kLengthBytes);
  const std::uint64_t most = std::min(kMaxHeader, file_size - kLengthBytes);
  if (length > most) {
    refuse_tensors(header_place(path), fmt::format("a header of {} bytes", length),
                   fmt::format("at most {} (the file has {})", most, file_size),
                   kDamagedTensors);
  }
  return length;
}

std::string header_text(std::span<const TensorView> tensors,
                        const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header;
  header["__metadata__"] = metadata;
  if (!metadata.contains("format")) header["__metadata__"]["format"] = "pt";
  std::size_t offset = 0;
  for (const TensorView& tensor : tensors) {
    check(element_count(tensor.shape) == tensor.values.size(), "a shape fits its values");
    check(!header.contains(tensor.name), "tensor names differ");
    const std::size_t end = offset + tensor.values.size_bytes();
    header[tensor.name] = {
        {"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = json_text(header);
  text.resize(round_up(text.size(), kLengthBytes), ' ');
  return text;
}

}  // namespace

FileMark write_safetensors(const std::filesystem::path& path,
                           std::span<const TensorView> tensors,
                           const std::map<std::string, std::string>& metadata,
                           const std::function<void(std::size_t)>& before_tensor) {
  const std::string header = header_text(tensors, metadata);
  const std::uint64_t length = header.size();
  AtomicFile file(path);
  Sha256 digest;
  FileMark mark;
  const auto write = [&](std::span<const std::byte> bytes) {
    file.write(bytes);
    digest.add(bytes);
    mark.bytes += bytes.size();
  };
  write(std::as_bytes(std::span(&length, 1)));
  write(std::as_bytes(std::span(header)));
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (before_tensor) before_tensor(i);
    write(std::as_bytes(tensors[i].values));
  }
  file.commit();
  mark.sha256 = digest.hex();
  return mark;
}

SafetensorsFile SafetensorsFile::read(const std::filesystem::path& path) {
  SafetensorsFile result;
  result.path_ = path.string();
  const std::uint64_t file_size = size_of(result.path_);
  const File file = open_file(result.path_);
  const std::uint64_t length = read_header_length(file, result.path_, file_size);
  const std::size_t data_size = file_size - kLengthBytes - length;
  result.header_ = parse_safetensors_header(
      read_block<std::string>(file, result.path_, length), result.path_, data_size);
  result.data_ = read_block<std::vector<std::byte>>(file, result.path_, data_size);
  return result;
}

std::vector<std::string> SafetensorsFile::names() const {
  std::vector<std::string> names;
  for (const TensorEntry& tensor : tensors()) names.push_back(tensor.name);
  return names;
}

const TensorEntry& SafetensorsFile::tensor(const std::string& name) const {
  const auto found = header_.index.find(name);
  if (found != header_.index.end()) return header_.tensors[found->second];
  const std::string nearest = nearest_name(name, names());
  refuse_tensors(tensor_place(path_, name), "no such tensor",
                 fmt::format("one of the file's {} tensors", header_.tensors.size()),
                 nearest.empty() ? "" : "nearest name: " + printable_name(nearest));
}

const std::vector<std::size_t>& SafetensorsFile::shape(const std::string& name) const {
  return tensor(name).shape;
}

std::span<const std::byte> SafetensorsFile::floats(const std::string& name) const {
  const TensorEntry& entry = tensor(name);
  if (entry.dtype != "F32") {
    refuse_tensors(tensor_place(path_, name), "dtype " + entry.dtype, "dtype F32",
                   "convert the tensor to 32-bit floating point");
  }
  return std::span(data_).subspan(entry.bytes.begin, entry.bytes.size());
}

std::vector<float> SafetensorsFile::values(const std::string& name) const {
  std::vector<float> result(floats(name).size() / sizeof(float));
  copy_values(name, result);
  return result;
}

void SafetensorsFile::copy_values(const std::string& name, std::span<float> dst) const {
  const std::span<const std::byte> bytes = floats(name);
  if (bytes.size() != dst.size_bytes()) {
    refuse_tensors(tensor_place(path_, name),
                   fmt::format("{} values, shape [{}]", bytes.size() / sizeof(float),
                               fmt::join(shape(name), ", ")),
                   fmt::format("{} values", dst.size()));
  }
  // A cast would be wrong: a tensor's bytes need not be aligned for floats.
  if (!bytes.empty()) std::memcpy(dst.data(), bytes.data(), bytes.size());
}

}  // namespace convoy
