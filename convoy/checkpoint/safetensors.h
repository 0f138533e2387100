// SPDX-License-Identifier: Apache-2.0
//
// Safetensors: named tensors in one file, as PyTorch users exchange them.
//
//   | u64: header's length | JSON header, padded with spaces | tensors, end to end |
//
//   {"__metadata__": {"format": "pt"},
//    "fc.bias": {"dtype": "F32", "shape": [10], "data_offsets": [0, 40]}, ...}
//
// Numbers are little-endian; offsets count from the end of the header. Files are
// untrusted: the tensors must cover the data exactly, and every error is an InputError of
// kind `data` that names the file and the tensor.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "convoy/base/float16.h"
#include "convoy/checkpoint/safetensors_header.h"
#include "convoy/system/file_mark.h"

namespace convoy {

/// A tensor to be written, in the type that its values have. Borrows the values. An empty
/// shape is a scalar.
struct TensorView {
  std::string name;
  std::vector<std::size_t> shape;
  std::span<const float> values;
  Dtype dtype = Dtype::fp32;
};

/// What a file with these tensors begins with: the header's length and the header.
/// Metadata without "format" gets `format: pt`; invalid UTF-8 in it becomes U+FFFD.
/// Requires: names are UTF-8 and unique; each shape matches its number of values, which
/// are not read.
std::string safetensors_head(std::span<const TensorView> tensors,
                             const std::map<std::string, std::string>& metadata = {});

/// Writes the tensors in the given order; the file is complete or absent. `before_tensor`
/// is called with a tensor's number before its values are read. Throws a storage error.
/// Metadata and what is required are as in safetensors_head().
FileMark write_safetensors(const std::filesystem::path& path,
                           std::span<const TensorView> tensors,
                           const std::map<std::string, std::string>& metadata = {},
                           const std::function<void(std::size_t)>& before_tensor = {});

/// A file's tensors, in memory. Immutable; any number of threads may read it.
class SafetensorsFile {
 public:
  /// Reads and checks the whole file. Tensors of every known dtype are listed.
  static SafetensorsFile read(const std::filesystem::path& path);

  /// All tensors, in the order of the header.
  std::span<const TensorEntry> tensors() const { return header_.tensors; }
  std::vector<std::string> names() const;
  const std::map<std::string, std::string>& metadata() const { return header_.metadata; }

  bool contains(const std::string& name) const { return header_.index.contains(name); }

  /// The following throw a data error if there is no such tensor.
  const TensorEntry& tensor(const std::string& name) const;
  const std::vector<std::size_t>& shape(const std::string& name) const;

  /// Returns a tensor's values. Throws a data error unless its dtype is F32, F16 or BF16.
  std::vector<float> values(const std::string& name) const;

  /// Copies a tensor's values to `dst`. Throws a data error if the sizes differ.
  void copy_values(const std::string& name, std::span<float> dst) const;

 private:
  std::string path_;
  SafetensorsHeader header_;
  std::vector<std::byte> data_;
};

}  // namespace convoy
