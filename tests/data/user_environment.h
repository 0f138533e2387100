// SPDX-License-Identifier: Apache-2.0
//
// UserEnvironment: a home, cache and CONVOY_DATA of a test's own, put back afterwards.

#pragma once

#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "convoy/system/temporary_folder.h"

namespace convoy {

class UserEnvironment {
 public:
  UserEnvironment() {
    set("HOME", (path() / "home").string());
    set("XDG_CACHE_HOME", "");
    set("CONVOY_DATA", "");
    set("no_proxy", "127.0.0.1");
  }
  ~UserEnvironment() {
    for (const auto& [name, value] : before_) {
      value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
    }
  }
  UserEnvironment(const UserEnvironment&) = delete;
  UserEnvironment& operator=(const UserEnvironment&) = delete;

  /// A folder for anything; the home is in it.
  const std::filesystem::path& path() const { return folder_.path(); }
  std::filesystem::path cache() const { return path() / "home" / ".cache" / "convoy"; }

  void set(const std::string& name, const std::string& value) {
    const char* now = std::getenv(name.c_str());
    before_.try_emplace(name, now ? std::optional<std::string>(now) : std::nullopt);
    ::setenv(name.c_str(), value.c_str(), 1);
  }

 private:
  TemporaryFolder folder_;
  std::map<std::string, std::optional<std::string>> before_;
};

}  // namespace convoy
