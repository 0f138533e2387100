// SPDX-License-Identifier: Apache-2.0

#include "convoy/checkpoint/checkpoint_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/checkpoint/checkpoint.h"
#include "convoy/system/file.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

fs::path checkpoints_of(const fs::path& run) { return run / "checkpoints"; }

bool is_number(const std::string& name) {
  return !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
}

/// Compares as numbers: a longer name is larger.
bool is_newer(const fs::path& a, const fs::path& b) {
  const std::string first = a.filename(), second = b.filename();
  return std::pair(first.size(), first) > std::pair(second.size(), second);
}

/// Renames the checkpoint to a hidden name before its files are removed one by one.
void remove_checkpoint(const fs::path& checkpoint) {
  const fs::path hidden =
      checkpoint.parent_path() / ("." + checkpoint.filename().string() + ".tmp-00000000");
  std::error_code error;
  fs::rename(checkpoint, hidden, error);
  if (!error) fs::remove_all(hidden, error);  // if it stays, the next pruning tries again
}

bool is_left_over(const std::string& name) {
  return name.starts_with(".") && name.find(".tmp") != std::string::npos;
}

void remove_left_overs(const fs::path& checkpoints) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(checkpoints, ignored)) {
    if (is_left_over(entry.path().filename())) fs::remove_all(entry.path(), ignored);
  }
}

/// Throws InputError unless the checkpoint is complete and its step is the one in its
/// name.
void verify_with_name(const fs::path& checkpoint) {
  const std::string name = checkpoint_name(load_state(checkpoint).step);
  if (name == checkpoint.filename()) return;
  throw InputError(InputKind::data, {.where = checkpoint,
                                     .found = "the checkpoint of step " + name,
                                     .expected = "the checkpoint of the step in its name",
                                     .hint = "it was renamed: use another checkpoint"});
}

InputError no_checkpoint(const fs::path& target,
                         const std::vector<std::string>& damaged) {
  return {
      InputKind::data,
      {.where = target,
       .found =
           damaged.empty() ? "no checkpoint" : "none complete:  " + join(damaged, "; "),
       .expected = "a run's folder with checkpoints, or a checkpoint's folder",
       .hint =
           "see checkpoint.enabled, checkpoint.every_epochs and checkpoint.every_steps"}};
}

}  // namespace

std::vector<fs::path> list_checkpoints(const fs::path& run) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(checkpoints_of(run), ignored)) {
    std::error_code none;
    if (is_number(entry.path().filename()) &&
        fs::exists(entry.path() / kManifestFile, none)) {
      found.push_back(entry.path());
    }
  }
  std::ranges::sort(found, is_newer);
  return found;
}

std::optional<fs::path> newest_complete_checkpoint(const fs::path& run,
                                                   const OnDamaged& on_damaged) {
  for (const fs::path& checkpoint : list_checkpoints(run)) {
    try {
      verify_with_name(checkpoint);
      return checkpoint;
    } catch (const InputError& error) {
      on_damaged(fmt::format("{} is damaged and left out: {}", checkpoint.string(),
                             error.what()));
    }
  }
  return std::nullopt;
}

void point_at(const fs::path& checkpoint, const std::string& link) {
  const fs::path folder = checkpoint.parent_path();
  const fs::path temporary = folder / ("." + link + ".tmp");
  ::unlink(temporary.c_str());  // left by a killed process
  if (::symlink(checkpoint.filename().c_str(), temporary.c_str()) != 0 ||
      ::rename(temporary.c_str(), (folder / link).c_str()) != 0) {
    const int cause = errno;
    ::unlink(temporary.c_str());
    throw storage_error(folder / link, "point at the new checkpoint", cause);
  }
  sync_folder(folder);
}

void prune_checkpoints(const fs::path& newest, std::size_t keep) {
  const fs::path checkpoints = newest.parent_path();
  remove_left_overs(checkpoints);
  if (keep == 0) return;
  std::error_code none;
  const fs::path best = fs::read_symlink(checkpoints / "best", none);
  std::vector<fs::path> all = list_checkpoints(checkpoints.parent_path());
  // A newer checkpoint is damaged, otherwise training would have resumed from it.
  std::erase_if(all, [&](const fs::path& other) { return is_newer(other, newest); });
  for (std::size_t i = keep; i < all.size(); ++i) {
    if (all[i].filename() != best) remove_checkpoint(all[i]);
  }
}

fs::path find_checkpoint(const fs::path& target, const OnDamaged& on_damaged) {
  std::error_code error;
  if (!fs::exists(target, error)) {
    throw storage_error(target, "find a run or checkpoint here",
                        error ? error.value() : ENOENT);
  }
  if (fs::exists(target / kManifestFile, error)) return fs::canonical(target);
  std::vector<std::string> damaged;
  const std::optional<fs::path> newest = newest_complete_checkpoint(
      target, [&](const std::string& text) { damaged.push_back(text); });
  if (!newest) throw no_checkpoint(target, damaged);
  if (on_damaged) std::ranges::for_each(damaged, on_damaged);
  return fs::canonical(*newest);
}

std::optional<fs::path> run_of_checkpoint(const fs::path& checkpoint) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(checkpoint, error);
  if (error) throw storage_error(checkpoint, "find this checkpoint", error.value());
  const fs::path run = whole.parent_path().parent_path();
  std::error_code ignored;
  if (!fs::exists(run / kConfigFile, ignored)) return std::nullopt;
  return run;
}

}  // namespace convoy
