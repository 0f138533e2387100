// SPDX-License-Identifier: Apache-2.0
//
// The manifest of a checkpoint, as far as uploads and downloads need it: names, sizes and
// digests of its files.
//
//   {"files": {"model.safetensors": {"bytes": 123, "sha256": "..."}, ...}, ...}

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace convoy {

inline constexpr const char* kManifestName = "manifest.json";

struct ManifestFile {
  std::string name;  // of a file in the checkpoint's folder
  std::uint64_t bytes = 0;
  std::string sha256;
};

/// Throws InputError of kind `data`, naming `where`, if it is not a manifest, or contains
/// an invalid file name.
std::vector<ManifestFile> parse_manifest(std::string_view text, const std::string& where);

}  // namespace convoy
