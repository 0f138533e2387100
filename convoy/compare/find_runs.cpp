// SPDX-License-Identifier: Apache-2.0
//
// The runs in a folder.

#include <algorithm>

#include "convoy/base/error.h"
#include "convoy/checkpoint/checkpoint.h"
#include "convoy/checkpoint/resume.h"
#include "convoy/compare/run_record.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLevels = 3;
constexpr std::size_t kMostRuns = 10'000;

bool is_digit(char c) { return '0' <= c && c <= '9'; }

/// The number at the beginning of `text`, without its zeros in front, which is removed.
std::string_view take_number(std::string_view& text) {
  const auto end = std::ranges::find_if_not(text, is_digit);
  std::string_view digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

/// Numbers in names are compared as numbers.
bool comes_before(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view left = take_number(a), right = take_number(b);
      if (left.size() != right.size()) return left.size() < right.size();
      if (left != right) return left < right;
      continue;
    }
    if (a.front() != b.front()) return a.front() < b.front();
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  return a.size() < b.size();
}

/// The folders in a folder, without hidden ones, which are being written or removed, and
/// without links, which could lead back here.
std::vector<fs::path> folders_in(const fs::path& path) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    const std::string name = entry->path().filename().string();
    if (!name.starts_with('.') && !entry->is_symlink(ignored) &&
        entry->is_directory(ignored)) {
      folders.push_back(entry->path());
    }
  }
  std::ranges::sort(folders, [](const fs::path& a, const fs::path& b) {
    return comes_before(a.filename().native(), b.filename().native());
  });
  return folders;
}

/// It has settings, and is no checkpoint.
bool has_run(const fs::path& path) {
  std::error_code ignored;
  return is_run_folder(path) && fs::is_regular_file(path / kConfigFile, ignored);
}

void collect(const fs::path& path, int levels, std::vector<fs::path>& runs) {
  if (has_run(path)) {
    runs.push_back(path);
    return;
  }
  if (levels == 0) return;
  for (const fs::path& folder : folders_in(path)) {
    if (runs.size() < kMostRuns) collect(folder, levels - 1, runs);
  }
}

}  // namespace

std::vector<fs::path> runs_below(const fs::path& path) {
  std::vector<fs::path> runs;
  collect(path, kMostLevels, runs);
  return runs;
}

std::vector<fs::path> find_runs(const fs::path& path) {
  std::vector<fs::path> runs = runs_below(path);
  if (!runs.empty()) return runs;
  std::error_code ignored;
  throw InputError(
      InputKind::storage,
      {.where = path.string(),
       .found = fs::exists(path, ignored) ? "no run" : "nothing of that name",
       .expected = "a run's folder, which has a config.yaml, or a folder of runs",
       .hint = ""});
}

}  // namespace convoy
