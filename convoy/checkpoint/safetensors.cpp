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

const char* tensors_name_of(Dtype dtype) {
  return dtype == Dtype::fp32 ? "F32" : dtype == Dtype::fp16 ? "F16" : "BF16";
}

/// The type of a tensor's numbers. Refuses those that are no floating point numbers of 32
/// or 16 bits.
Dtype dtype_in(const std::string& path, const TensorEntry& tensor) {
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16}) {
    if (tensor.dtype == tensors_name_of(dtype)) return dtype;
  }
  refuse_tensors(tensor_place(path, tensor.name), "dtype " + tensor.dtype,
                 "dtype F32, F16 or BF16", "convert the tensor to 32-bit floating point");
}

/// Calls write(bytes) for a tensor's numbers in their type, piece by piece.
template <class Write>
void write_numbers(const TensorView& tensor, const Write& write) {
  if (tensor.dtype == Dtype::fp32) return write(std::as_bytes(tensor.values));
  constexpr std::size_t kPiece = std::size_t{1} << 14;
  std::vector<std::uint16_t> piece(std::min(kPiece, tensor.values.size()));
  for (auto left = tensor.values; !left.empty();) {
    const std::size_t count = std::min(kPiece, left.size());
    narrow(tensor.dtype, left.data(), piece.data(), count);
    write(std::as_bytes(std::span(piece).first(count)));
    left = left.subspan(count);
  }
}

std::string header_json(std::span<const TensorView> tensors,
                        const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header;
  header["__metadata__"] = metadata;
  if (!metadata.contains("format")) header["__metadata__"]["format"] = "pt";
  std::size_t offset = 0;
  for (const TensorView& tensor : tensors) {
    check(element_count(tensor.shape) == tensor.values.size(), "a shape fits its values");
    check(!header.contains(tensor.name), "tensor names differ");
    const std::size_t end = offset + tensor.values.size() * bytes_of(tensor.dtype);
    header[tensor.name] = {{"dtype", tensors_name_of(tensor.dtype)},
                           {"shape", tensor.shape},
                           {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = json_text(header);
  text.resize(round_up(text.size(), kLengthBytes), ' ');
  return text;
}

}  // namespace

std::string safetensors_head(std::span<const TensorView> tensors,
                             const std::map<std::string, std::string>& metadata) {
  const std::string header = header_json(tensors, metadata);
  const std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), kLengthBytes) + header;
}

FileMark write_safetensors(const std::filesystem::path& path,
                           std::span<const TensorView> tensors,
                           const std::map<std::string, std::string>& metadata,
                           const std::function<void(std::size_t)>& before_tensor) {
  AtomicFile file(path);
  Sha256 digest;
  std::uint64_t size = 0;
  const auto write = [&](std::span<const std::byte> bytes) {
    file.write(bytes);
    digest.add(bytes);
    size += bytes.size();
  };
  const std::string head = safetensors_head(tensors, metadata);
  write(std::as_bytes(std::span(head)));
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (before_tensor) before_tensor(i);
    write_numbers(tensors[i], write);
  }
  file.commit();
  return {{{size, digest.hex()}}};
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

std::vector<float> SafetensorsFile::values(const std::string& name) const {
  const TensorEntry& entry = tensor(name);
  std::vector<float> result(entry.bytes.size() / bytes_of(dtype_in(path_, entry)));
  copy_values(name, result);
  return result;
}

void SafetensorsFile::copy_values(const std::string& name, std::span<float> dst) const {
  const TensorEntry& entry = tensor(name);
  const Dtype dtype = dtype_in(path_, entry);
  const std::size_t count = entry.bytes.size() / bytes_of(dtype);
  if (count != dst.size()) {
    refuse_tensors(
        tensor_place(path_, name),
        fmt::format("{} values, shape [{}]", count, fmt::join(shape(name), ", ")),
        fmt::format("{} values", dst.size()));
  }
  const std::byte* bytes = data_.data() + entry.bytes.begin;
  if (dtype == Dtype::fp32) {
    // A cast would be wrong: a tensor's bytes need not be aligned for floats.
    if (!dst.empty()) std::memcpy(dst.data(), bytes, dst.size_bytes());
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, bytes + i * sizeof bits, sizeof bits);
    dst[i] = dtype == Dtype::fp16 ? from_fp16(bits) : from_bf16(bits);
  }
}

}  // namespace convoy
