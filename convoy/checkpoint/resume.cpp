// SPDX-License-Identifier: Apache-2.0

#include "convoy/checkpoint/resume.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "convoy/base/error.h"
#include "convoy/base/exit_code.h"
#include "convoy/base/json.h"
#include "convoy/base/text.h"
#include "convoy/checkpoint/checkpoint.h"
#include "convoy/checkpoint/run_folder.h"
#include "convoy/system/file.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

/// Whether the run has finished; a run that was stopped or killed has not. Throws
/// InputError if its summary was not written by convoy.
bool is_done(const fs::path& run) {
  const fs::path path = run / "summary.json";
  if (!is_there(path)) return false;
  const JsonSource source{.where = path, .expected = "a summary that convoy has written"};
  const auto content = parse_json(read_text(path, kMostJsonBytes), source);
  const JsonObject summary(content, source);
  if (!summary.contains("exit")) return false;
  return summary.object("exit").count("code") == static_cast<int>(ExitCode::done);
}

bool could_resume(const fs::path& run) {
  return is_there(run / kConfigFile) && !list_checkpoints(run).empty() && !is_done(run) &&
         !RunFolder::is_in_use(run);
}

/// Calls `look`. An invalid folder among many is reported and skipped.
template <class Look>
void look_into(const fs::path& run, const OnDamaged& on_skipped, const Look& look) {
  try {
    look();
  } catch (const InputError& error) {
    const std::string text =
        fmt::format("train.resume=auto passes over {}: {}", run.string(), error.what());
    if (on_skipped) on_skipped(text);
  }
}

/// Returns the runs in a folder that can be resumed, newest first.
std::vector<fs::path> unfinished_runs(const fs::path& dir, const OnDamaged& on_skipped) {
  std::vector<fs::path> runs;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(dir, ignored)) {
    const fs::path& run = entry.path();
    look_into(run, on_skipped, [&] {
      if (could_resume(run)) runs.push_back(run);
    });
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

std::optional<ResumeSource> newest_unfinished(const fs::path& dir,
                                              const OnDamaged& on_skipped) {
  std::optional<ResumeSource> source;
  for (const fs::path& run : unfinished_runs(dir, on_skipped)) {
    look_into(run, on_skipped, [&] { source = from_run(run); });
    if (source) break;
  }
  return source;
}

std::optional<ResumeSource> automatic(const RunSettings& settings,
                                      const OnDamaged& on_skipped) {
  if (settings.name.empty()) return newest_unfinished(settings.dir, on_skipped);
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

std::optional<ResumeSource> find_resume_source(const Settings& settings,
                                               const OnDamaged& on_skipped) {
  const std::string& resume = settings.train.resume;
  if (resume.empty()) return std::nullopt;
  if (resume == "auto") return automatic(settings.run, on_skipped);
  if (!is_there(fs::path(resume) / kManifestFile)) return from_run(resume);
  verify_checkpoint(resume);
  return ResumeSource{.checkpoint = fs::canonical(resume), .run = {}, .damaged = {}};
}

}  // namespace convoy
