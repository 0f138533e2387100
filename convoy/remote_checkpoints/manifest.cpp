// SPDX-License-Identifier: Apache-2.0

#include "convoy/remote_checkpoints/manifest.h"

#include <nlohmann/json.hpp>

#include "convoy/base/error.h"

namespace convoy {
namespace {

InputError damaged(const std::string& where, const std::string& found) {
  return {InputKind::data,
          {.where = where,
           .found = found,
           .expected = "a checkpoint's manifest as convoy writes it",
           .hint = "use another checkpoint"}};
}

/// No way out of the folder, nothing hidden, not the manifest itself.
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
                                         const std::string& where) try {
  std::vector<ManifestFile> files;
  const auto manifest = nlohmann::ordered_json::parse(text);
  for (const auto& [name, entry] : manifest.at("files").items()) {
    files.push_back({.name = name,
                     .bytes = entry.at("bytes").get<std::uint64_t>(),
                     .sha256 = entry.at("sha256").get<std::string>()});
    if (!is_file_name(name)) throw damaged(where, "a file named '" + name + "'");
    if (!is_sha256(files.back().sha256)) throw damaged(where, "no SHA-256 of " + name);
  }
  if (files.empty()) throw damaged(where, "no files");
  return files;
} catch (const nlohmann::json::exception& error) {
  throw damaged(where, error.what());
}

}  // namespace convoy
