// SPDX-License-Identifier: Apache-2.0
//
// FileStore: a KeyValueStore in a folder, for processes that share a file system.
//
// A value is a file, complete under its name or absent. Any process that can read the
// folder can join.

#pragma once

#include <filesystem>

#include "convoy/rendezvous/key_value_store.h"

namespace convoy {

class FileStore final : public KeyValueStore {
 public:
  /// Requires: an existing folder that is empty before the first rank starts.
  explicit FileStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

  void set(const std::string& key, std::span<const std::byte> value) override;
  std::vector<std::byte> get(const std::string& key,
                             std::chrono::milliseconds timeout) override;

 private:
  std::filesystem::path path_of(std::string key) const;

  std::filesystem::path folder_;
};

}  // namespace convoy
