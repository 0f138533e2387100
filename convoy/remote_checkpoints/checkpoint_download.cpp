// SPDX-License-Identifier: Apache-2.0

#include "convoy/remote_checkpoints/checkpoint_download.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/remote_checkpoints/manifest.h"
#include "convoy/s3/etag.h"
#include "convoy/s3/source_file.h"
#include "convoy/system/file.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestManifest = 16 << 20;
constexpr std::size_t kMostRuns = 50;  // maximum number of runs searched for a pointer

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

InputError nothing_there(const S3Location& place, const std::string& found,
                         const std::string& hint) {
  return {InputKind::data,
          {.where = place.text(),
           .found = found,
           .expected = "a checkpoint, or a run with a pointer to one",
           .hint = hint}};
}

/// What was requested: a checkpoint by its step, or by its role in a run.
struct Target {
  S3Location run;
  CheckpointRole role = CheckpointRole::last;
  std::string step_name{};
};

/// Converts "120" to "00000120", as in a run's folder.
std::string full_step_name(const std::string& step) {
  return step.size() < 8 ? std::string(8 - step.size(), '0') + step : step;
}

Target target_of(const S3Location& from) {
  const std::string name = from.name();
  S3Location run = from;
  Target target;
  if (is_step_name(name) && from.parent().name() == "checkpoints") {
    target.step_name = full_step_name(name);
    run = from.parent();
  } else if (name == "last" || name == "best") {
    if (name == "best") target.role = CheckpointRole::best;
    run = from.parent();
  }
  target.run = run.name() == "checkpoints" ? run.parent() : run;
  return target;
}

/// Returns the checkpoint that the run's pointer names, or nothing if there is no
/// pointer.
std::optional<std::string> follow_pointer(S3Client& client, const Target& target) {
  const S3Location pointer = pointer_place(target.run, target.role);
  const auto found = client.get_bytes(pointer, kLargestPointer);
  if (!found) return std::nullopt;
  return pointed_at(text_of(*found), pointer);
}

/// A user who may get but not list finds no runs.
std::vector<std::string> folders_or_none(S3Client& client, const S3Location& place) try {
  return client.folders(place);
} catch (const S3Error& error) {
  if (error.code() != "AccessDenied") throw;
  return {};
}

/// Returns the targets among the folders below the named one.
std::vector<Target> runs_below(S3Client& client, const Target& target) {
  std::vector<Target> runs;
  const std::vector<std::string> names = folders_or_none(client, target.run);
  if (names.size() > kMostRuns) {
    throw nothing_there(target.run, fmt::format("{} folders below", names.size()),
                        "name the run");
  }
  for (const std::string& name : names) {
    Target run{.run = target.run / name, .role = target.role};
    if (auto step_name = follow_pointer(client, run)) {
      run.step_name = *step_name;
      runs.push_back(run);
    }
  }
  return runs;
}

Target only_run_below(S3Client& client, const Target& target) {
  const std::vector<Target> runs = runs_below(client, target);
  if (runs.size() == 1) return runs.front();
  if (runs.empty()) {
    throw nothing_there(
        target.run,
        "no " + pointer_place({.bucket = ""}, target.role).key +
            ", here or in a folder below",
        "check bucket, prefix and run; an unfinished upload has no pointer");
  }
  std::vector<std::string> names;
  for (const Target& run : runs) names.push_back(run.run.name());
  throw nothing_there(target.run, "several runs: " + join(names),
                      "name one: " + runs.front().run.text());
}

Target resolved(S3Client& client, const S3Location& from) {
  Target target = target_of(from);
  if (!target.step_name.empty()) return target;
  if (auto step_name = follow_pointer(client, target)) {
    target.step_name = *step_name;
    return target;
  }
  return only_run_below(client, target);
}

std::string get_manifest(S3Client& client, const S3Location& place) {
  const auto found = client.get_bytes(place / kManifestName, kLargestManifest);
  if (found) return text_of(*found);
  throw nothing_there(place, "no manifest.json",
                      "there is no such checkpoint, or its upload did not finish");
}

void get_verified(S3Client& client, const S3Location& object, const ManifestFile& entry,
                  const fs::path& path) {
  if (!client.get_file(object, path, entry.mark.bytes())) {
    throw damaged_object(object, "no such object", "a file that the manifest names");
  }
  if (!matches(entry.mark, SourceFile(path))) {
    throw damaged_object(object, "a different SHA-256", "that of the manifest");
  }
}

}  // namespace

fs::path download_checkpoint(S3Client& client, const S3Location& from,
                             const fs::path& parent) {
  const Target target = resolved(client, from);
  const S3Location place = checkpoint_place(target.run, target.step_name);
  const std::string manifest = get_manifest(client, place);
  const auto files = parse_manifest(manifest, (place / kManifestName).text());
  make_folders(parent);
  const fs::path path = parent / target.step_name;
  AtomicFolder folder(path);
  for (const ManifestFile& entry : files) {
    get_verified(client, place / entry.name, entry, folder.path() / entry.name);
  }
  write_atomically(folder.path() / kManifestName, manifest);
  folder.replace();
  return path;
}

}  // namespace convoy
