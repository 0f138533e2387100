// SPDX-License-Identifier: Apache-2.0
//
// The header of a safetensors file: parsed, and checked against the data it describes.
//
// Used by safetensors.cpp only. Every error is an InputError of kind `data`.

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

/// A tensor's entry in the header.
struct TensorEntry {
  std::string name;
  std::string dtype;  // "F32", "I64" ...
  std::vector<std::size_t> shape;
  Range bytes;  // offsets into the data that follows the header
};

struct SafetensorsHeader {
  std::vector<TensorEntry> tensors;                    // in the order of the header
  std::unordered_map<std::string, std::size_t> index;  // name -> index in tensors
  std::map<std::string, std::string> metadata;
};

/// Parses the JSON and checks that its tensors cover `data_size` bytes, each byte once.
/// `path` is for messages.
SafetensorsHeader parse_safetensors_header(const std::string& json,
                                           const std::string& path,
                                           std::size_t data_size);

/// Returns the number of elements, or nothing if it overflows.
std::optional<std::size_t> element_count(std::span<const std::size_t> shape);

/// Throws an InputError. `hint` may be empty.
[[noreturn]] void refuse_tensors(std::string where, std::string found,
                                 std::string expected, std::string hint = "");

/// Returns a name from a file in printable form: short, without control characters.
std::string printable_name(std::string text);

/// The location of an error, for messages: "path: header", "path: tensor NAME".
std::string header_place(const std::string& path);
std::string tensor_place(const std::string& path, const std::string& name);

/// The hint for a file that is not what it claims to be.
inline constexpr const char* kDamagedTensors =
    "the file is damaged or no safetensors file; fetch or save it again";

}  // namespace convoy
