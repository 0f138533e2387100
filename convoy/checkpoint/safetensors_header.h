// SPDX-License-Identifier: Apache-2.0
//
// The header of a safetensors file: read, and checked against the data it describes.
//
// Only safetensors.cpp uses this. Every refusal is an InputError of kind `data`.

#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "convoy/base/range.h"

namespace convoy {

/// What a header says of one tensor.
struct TensorEntry {
  std::string name;
  std::string dtype;  // "F32", "I64" ...
  std::vector<std::size_t> shape;
  Range bytes;  // of the data that follows the header
};

struct SafetensorsHeader {
  std::vector<TensorEntry> tensors;                    // in the header's order
  std::unordered_map<std::string, std::size_t> index;  // name -> place in tensors
  std::map<std::string, std::string> metadata;
};

/// Reads the JSON and checks that its tensors cover `data_size` bytes, each byte once.
/// `path` is for messages.
SafetensorsHeader parse_safetensors_header(const std::string& json,
                                           const std::string& path,
                                           std::size_t data_size);

/// The number of elements, or nothing if it does not fit.
std::optional<std::size_t> element_count(std::span<const std::size_t> shape);

/// Throws the InputError. `hint` may be empty.
[[noreturn]] void refuse_tensors(std::string where, std::string found,
                                 std::string expected, std::string hint = "");

/// A name from a file, fit for a message: short, without control characters.
std::string printable_name(std::string text);

/// Where a fault is, for messages: "path: header", "path: tensor NAME".
std::string header_place(const std::string& path);
std::string tensor_place(const std::string& path, const std::string& name);

/// The hint for a file that cannot be what it claims.
inline constexpr const char* kDamagedTensors =
    "the file is damaged or no safetensors file; fetch or save it again";

}  // namespace convoy
