// SPDX-License-Identifier: Apache-2.0
//
// Checkpoint folders made for tests: the form of one, with any bytes in it.

#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "convoy/base/sha256.h"
#include "convoy/system/file.h"

namespace convoy {

inline std::string made_up_bytes(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

/// Writes run/checkpoints/<step> and returns its path. The large file has `bytes` bytes.
inline std::filesystem::path make_checkpoint(const std::filesystem::path& run, int step,
                                             std::size_t bytes = 100000,
                                             std::uint32_t seed = 1) {
  const auto folder = run / "checkpoints" / fmt::format("{:08}", step);
  make_folders(folder);
  nlohmann::ordered_json files;
  for (const auto& [name, content] : std::map<std::string, std::string>{
           {"model.safetensors", made_up_bytes(bytes, seed)},
           {"optimizer.safetensors", made_up_bytes(5000, seed + 1)},
           {"state.json", fmt::format("{{\"step\": {}}}\n", step)}}) {
    write_atomically(folder / name, content);
    files[name] = {{"bytes", content.size()},
                   {"sha256", sha256_hex(std::as_bytes(std::span(content)))}};
  }
  write_atomically(folder / "manifest.json",
                   nlohmann::ordered_json{{"files", files}}.dump(2) + "\n");
  return folder;
}

/// Every file of a folder and its content.
inline std::map<std::string, std::string> contents_of(
    const std::filesystem::path& folder) {
  std::map<std::string, std::string> contents;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    contents[entry.path().filename()] = read_text(entry.path());
  }
  return contents;
}

}  // namespace convoy
