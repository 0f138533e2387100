// SPDX-License-Identifier: Apache-2.0
//
// Tar shards for tests: made by the system's tar, or header by header.

#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "convoy/data/dataset.h"
#include "convoy/system/file.h"
#include "convoy/system/temporary_folder.h"

namespace convoy {

/// A member's header, ustar, with its right checksum.
inline std::string tar_header(const std::string& name, std::size_t size, char type = '0',
                              const std::string& prefix = "") {
  std::string block(512, '\0');
  const auto put = [&](std::size_t at, const std::string& text) {
    std::ranges::copy(text, block.begin() + static_cast<std::ptrdiff_t>(at));
  };
  put(0, name);
  put(100, "0000644");
  put(124, fmt::format("{:011o}", size));
  put(148, "        ");
  block[156] = type;
  put(257, std::string("ustar\0"
                       "00",
                       8));
  put(345, prefix);
  unsigned sum = 0;
  for (const unsigned char c : block) sum += c;
  put(148, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  return block;
}

/// A header and the content in whole blocks.
inline std::string tar_member(const std::string& name, std::string content,
                              char type = '0') {
  const std::string header = tar_header(name, content.size(), type);
  content.resize((content.size() + 511) / 512 * 512, '\0');
  return header + content;
}

inline const std::string kTarEnd(1024, '\0');

/// Runs the system's tar. `more` are arguments before the names.
inline void system_tar(const std::filesystem::path& tar,
                       const std::filesystem::path& folder,
                       const std::vector<std::string>& names,
                       const std::string& more = "") {
  std::string command =
      fmt::format("tar {} -cf '{}' -C '{}'", more, tar.string(), folder.string());
  for (const std::string& name : names) command += " '" + name + "'";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

/// Writes a half of a dataset of files as shards NAME-0.tar, ... in its order.
inline void write_shards(const Dataset& data, const std::filesystem::path& folder,
                         const std::string& name, std::size_t shards) {
  const TemporaryFolder scratch;
  std::vector<std::vector<std::string>> names(shards);
  std::vector<std::byte> buffer;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const std::string key = fmt::format("{:06}", i);
    const auto content = data.files->contents->read(i, buffer);
    const bool is_png = content[0] == std::byte{0x89};
    const std::string image = key + (is_png ? ".png" : ".jpg");
    write_atomically(scratch.path() / image,
                     {reinterpret_cast<const char*>(content.data()), content.size()});
    write_atomically(scratch.path() / (key + ".cls"),
                     fmt::format("{}\n", data.labels[i]));
    std::vector<std::string>& of_shard = names[i * shards / data.size()];
    of_shard.push_back(image);
    of_shard.push_back(key + ".cls");
  }
  make_folders(folder);
  for (std::size_t i = 0; i < shards; ++i) {
    system_tar(folder / fmt::format("{}-{}.tar", name, i), scratch.path(), names[i]);
  }
}

}  // namespace convoy
