// SPDX-License-Identifier: Apache-2.0
//
// The manifest of a checkpoint, as far as uploads and downloads need it: names, sizes and
// digests of its files.
//
//   {"files": {"model.safetensors": {"bytes": 123, "sha256": "..."}, ...}, ...}
//
// An entry is a FileMark (system/file_mark.h).

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "convoy/system/file_mark.h"

namespace convoy {

inline constexpr const char* kManifestName = "manifest.json";

struct ManifestFile {
  std::string name;  // of a file in the checkpoint's folder
  FileMark mark;
};

/// Throws InputError of kind `data`, naming `where`, if it is not a manifest, or contains
/// an invalid file name.
std::vector<ManifestFile> parse_manifest(std::string_view text, const std::string& where);

}  // namespace convoy
