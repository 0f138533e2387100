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

bool is_sha256(const std::string& text) {
  return text.size() == 64 &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

}  // namespace

std::vector<ManifestFile> parse_manifest(std::string_view text,
                                         const std::string& where) {
  const JsonSource source{.where = where, .expected = kExpected, .hint = kHint};
  const auto manifest = parse_json(text, source);
  const JsonObject entries = JsonObject(manifest, source).object("files");
  std::vector<ManifestFile> files;
  for (const auto& [name, ignored] : manifest.at("files").items()) {
    const JsonObject entry = entries.object(name);
    files.push_back(
        {.name = name, .bytes = entry.whole("bytes"), .sha256 = entry.text("sha256")});
    if (!is_file_name(name)) throw damaged(where, "a file named '" + name + "'");
    if (!is_sha256(files.back().sha256)) throw damaged(where, "no SHA-256 of " + name);
  }
  if (files.empty()) throw damaged(where, "no files");
  return files;
}

}  // namespace convoy
