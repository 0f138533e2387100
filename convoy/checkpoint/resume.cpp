// SPDX-License-Identifier: Apache-2.0

#include "convoy/checkpoint/resume.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "convoy/base/error.h"
#include "convoy/base/exit_code.h"
#include "convoy/base/text.h"
#include "convoy/checkpoint/checkpoint.h"
#include "convoy/checkpoint/checkpoint_folder.h"
#include "convoy/checkpoint/run_folder.h"
#include "convoy/system/file.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

/// Whether the run has come to its end. One that was stopped or killed has not.
bool is_done(const fs::path& run) {
  const fs::path summary = run / "summary.json";
  if (!is_there(summary)) return false;
  const auto content = nlohmann::json::parse(read_text(summary), nullptr, false);
  if (!content.is_object() || !content.contains("exit")) return false;
  const int code = content["exit"].value("code", static_cast<int>(ExitCode::bug));
  return code == static_cast<int>(ExitCode::done);
}

/// Those in a folder that could go on, newest first.
std::vector<fs::path> unfinished_runs(const fs::path& dir) {
  std::vector<fs::path> runs;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(dir, ignored)) {
    const fs::path& run = entry.path();
    if (is_there(run / kConfigFile) && !list_checkpoints(run).empty() && !is_done(run) &&
        !RunFolder::is_in_use(run)) {
      runs.push_back(run);
    }
  }
  std::ranges::sort(runs, std::greater(), [](const fs::path& run) {
    std::error_code none;
    return fs::last_write_time(list_checkpoints(run).front(), none);
  });
  return runs;
}

ResumeSource from_run(const fs::path& run) {
  ResumeSource source;
  source.checkpoint = find_checkpoint(
      run, [&](const std::string& text) { source.damaged.push_back(text); });
  source.run = fs::canonical(run);
  return source;
}

std::optional<ResumeSource> automatic(const RunSettings& settings) {
  if (settings.name.empty()) {
    const std::vector<fs::path> runs = unfinished_runs(settings.dir);
    return runs.empty() ? std::nullopt : std::optional(from_run(runs.front()));
  }
  const fs::path run = fs::path(settings.dir) / settings.name;
  if (!is_run_folder(run)) return std::nullopt;
  if (!list_checkpoints(run).empty()) return from_run(run);
  return ResumeSource{.checkpoint = {}, .run = fs::canonical(run), .damaged = {}};
}

}  // namespace

bool is_run_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored) && !is_there(path / kManifestFile);
}

std::optional<ResumeSource> find_resume_source(const Settings& settings) {
  const std::string& resume = settings.train.resume;
  if (resume.empty()) return std::nullopt;
  if (resume == "auto") return automatic(settings.run);
  if (!is_there(fs::path(resume) / kManifestFile)) return from_run(resume);
  verify_checkpoint(resume);
  return ResumeSource{.checkpoint = fs::canonical(resume), .run = {}, .damaged = {}};
}

}  // namespace convoy
