// SPDX-License-Identifier: Apache-2.0

#include "convoy/run/resume_settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "convoy/checkpoint/checkpoint.h"
#include "convoy/checkpoint/resume.h"
#include "convoy/remote_checkpoints/checkpoint_download.h"
#include "convoy/s3/access.h"
#include "convoy/s3/client.h"
#include "convoy/settings/setting_changes.h"

namespace convoy {
namespace {

/// A run that is given another name continues in a new folder.
void choose_folder(ResumeSource& source, Settings& settings) {
  const bool renamed = source.run && source.checkpoint && !settings.run.name.empty() &&
                       settings.run.name != source.run->filename();
  if (renamed) source.run.reset();
  settings.train.resume = source.path();
  if (!source.run) return;
  settings.run.dir = source.run->parent_path();
  settings.run.name = source.run->filename();
}

/// Resolves the run's own settings first; changes by the command line are noted or
/// refused.
void merge_run_config(const SettingArguments& arguments, const ResumeSource& source,
                      ResumedSettings& result) {
  const std::filesystem::path config = *source.checkpoint / kConfigFile;
  SettingArguments over_the_run = arguments;
  over_the_run.run_config = config;
  // The command line was already resolved alone, with its warnings.
  over_the_run.warn = {};
  result.settings = over_the_run.resolve();
  const Settings before = SettingArguments{.run_config = config}.resolve();
  // The largest batch was found when the run began.
  if (result.settings.train.batch_size == 0) {
    result.settings.train.batch_size = before.train.batch_size;
  }
  const std::vector<SettingChange> changes = setting_changes(before, result.settings);
  refuse_other_bits(changes, result.settings);
  result.warnings.insert(result.warnings.end(), source.damaged.begin(),
                         source.damaged.end());
  for (const SettingChange& change : changes) result.notes.push_back(describe(change));
}

/// Downloads a checkpoint from object storage into a folder beside the runs.
void fetch_if_remote(Settings& settings) {
  if (!is_s3_location(settings.train.resume)) return;
  const auto from = S3Location::parse(settings.train.resume, "train.resume");
  std::string name = from.bucket + "/" + from.key;
  std::ranges::replace(name, '/', '-');
  const std::filesystem::path parent =
      std::filesystem::path(settings.run.dir) / "downloads" / name;
  S3Client client(find_s3_access(), {});
  settings.train.resume = download_checkpoint(client, from, parent);
}

}  // namespace

ResumedSettings resume_settings(const SettingArguments& arguments) {
  ResumedSettings result;
  SettingArguments arguments_with_warnings = arguments;
  arguments_with_warnings.warn = [&](const std::string& text) {
    result.warnings.push_back(text);
  };
  result.settings = arguments_with_warnings.resolve();
  fetch_if_remote(result.settings);
  std::optional<ResumeSource> source = find_resume_source(
      result.settings, [&](const std::string& text) { result.warnings.push_back(text); });
  if (!source) {
    if (result.settings.train.resume.empty()) return result;
    result.notes.push_back(fmt::format("resume    nothing to resume in {}: a new run",
                                       result.settings.run.dir));
    result.settings.train.resume.clear();
    return result;
  }
  if (source->checkpoint) {
    merge_run_config(arguments, *source, result);
  } else {
    result.notes.push_back(fmt::format(
        "resume    {} has no checkpoint: the run starts again from its first step",
        source->run->string()));
  }
  choose_folder(*source, result.settings);
  return result;
}

}  // namespace convoy
