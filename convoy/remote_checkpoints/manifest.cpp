// SPDX-License-Identifier: Apache-2.0

#include "convoy/remote_checkpoints/manifest.h"

#include <nlohmann/json.hpp>

#include "convoy/base/error.h"
#include "convoy/base/json.h"

namespace convoy {
namespace {

constexpr const char* kExpected = "a checkpoint's manifest as convoy writes it";
constexpr const char* kHint = "use another checkpoint";

InputError damaged(const std::string& where, const std::string& found) {
  return {InputKind::data,
          {.where = where, .found = found, .expected = kExpected, .hint = kHint}};
}

/// The name must not leave the folder, be hidden, or be the manifest itself.
bool is_file_name(const std::string& name) {
  return !name.empty() && name.size() <= 200 && name.front() != '.' &&
         name != kManifestName &&
         name.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
             "0123456789._-") == std::string::npos;
}

}  // namespace

std::vector<ManifestFile> parse_manifest(std::string_view text,
                                         const std::string& where) {
  const JsonSource source{.where = where, .expected = kExpected, .hint = kHint};
  const auto manifest = parse_json(text, source);
  const JsonObject entries = JsonObject(manifest, source).object("files");
  std::vector<ManifestFile> files;
  for (const auto& [name, ignored] : manifest.at("files").items()) {
    if (!is_file_name(name)) throw damaged(where, "a file named '" + name + "'");
    files.push_back(
        {.name = name, .mark = file_mark_from_json(entries.object(name), source)});
  }
  if (files.empty()) throw damaged(where, "no files");
  return files;
}

}  // namespace convoy
