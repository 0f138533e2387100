// SPDX-License-Identifier: Apache-2.0

#include "convoy/board/run_index.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "convoy/base/error.h"
#include "convoy/base/json.h"
#include "convoy/base/printable.h"
#include "convoy/base/text.h"
#include "convoy/base/unix_time.h"
#include "convoy/board/lock_holder.h"
#include "convoy/board/run_entry.h"
#include "convoy/system/quiet_thread.h"

namespace convoy {
namespace {

using json = nlohmann::ordered_json;
namespace fs = std::filesystem;

/// From the end of a look at the folder to the beginning of the next one.
constexpr double kPauseSeconds = 0.7;
/// A run whose lock another machine may hold is read again after that time.
constexpr int kLockSeconds = 10;
/// A run takes long to read from here on.
constexpr double kLongSeconds = 0.05;

/// The path below the folder; the name of the folder itself if that is the run.
std::string id_of(const fs::path& run, const fs::path& folder) {
  const fs::path relative = run.lexically_relative(folder);
  const bool same = relative.empty() || relative == ".";
  return printable((same ? folder.filename() : relative).string());
}

/// Names that differ only in what cannot be shown are numbered.
template <class Map>
std::string free_id(const std::string& wanted, const Map& taken) {
  std::string id = wanted;
  for (int i = 2; taken.contains(id); ++i) id = fmt::format("{} ({})", wanted, i);
  return id;
}

/// The folders of the runs that have a sweep.json of their own, no link, by id.
std::map<std::string, fs::path> sweeps_of(const std::vector<fs::path>& runs,
                                          const fs::path& folder) {
  std::map<std::string, fs::path> sweeps;
  for (const fs::path& run : runs) {
    const fs::path parent = run.parent_path();
    if (run != folder && has_own_sweep(parent)) {
      sweeps.emplace(id_of(parent, folder), parent);
    }
  }
  return sweeps;
}

bool is_locked(const fs::path& folder, const std::set<ino_t>& locked) {
  struct stat status {};
  return ::stat(folder.c_str(), &status) == 0 && locked.contains(status.st_ino);
}

fs::path without_slash(fs::path folder) {
  folder = folder.lexically_normal();
  return folder.filename().empty() ? folder.parent_path() : folder;
}

}  // namespace

RunIndex::RunIndex(fs::path folder)
    : folder_(without_slash(fs::absolute(folder))),
      version_(static_cast<std::uint64_t>(unix_seconds() * 1e3)),
      first_version_(version_) {
  std::error_code error;
  if (!fs::is_directory(folder_, error)) {
    throw storage_error(folder, "find a folder of runs here",
                        error ? error.value() : ENOTDIR);
  }
  thread_ = quiet_thread([this] { work(); });
}

RunIndex::~RunIndex() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void RunIndex::work() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    const Stopwatch watch;
    scan();
    lock.lock();
    ++scans_;
    changed_.notify_all();
    const double pause = std::max(kPauseSeconds, 5 * watch.seconds());
    changed_.wait_for(lock, milliseconds_of(pause),
                      [this] { return stopping_ || hurries_; });
    hurries_ = false;
  }
}

void RunIndex::scan() {
  const std::set<ino_t> locked = locked_inodes();
  for (const auto& [id, folder] : list_found()) {
    const std::string fingerprint =
        files_fingerprint(folder) + (is_locked(folder, locked) ? "locked" : "");
    if (is_due(id, fingerprint)) read(id, folder, fingerprint);
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
  }
}

std::vector<std::pair<std::string, fs::path>> RunIndex::list_found() {
  std::map<std::string, fs::path> found;
  const std::vector<fs::path> runs = runs_below(folder_);
  for (const fs::path& run : runs) {
    found.emplace(free_id(id_of(run, folder_), found), run);
  }
  std::map<std::string, fs::path> sweeps = sweeps_of(runs, folder_);
  const std::lock_guard lock(mutex_);
  sweeps_ = std::move(sweeps);
  std::erase_if(runs_, [&](const auto& listed) {
    const bool gone = !found.contains(listed.first);
    if (gone) removed_[listed.first] = ++version_;
    return gone;
  });
  for (const auto& [id, folder] : found) {
    const bool is_new = runs_.try_emplace(id, Listed{.folder = folder}).second;
    if (is_new) removed_.erase(id);
  }
  // Names begin with a date unless they were chosen: the newest first.
  return {found.rbegin(), found.rend()};
}

/// A run that takes long to read is read less often than it grows.
bool RunIndex::is_due(const std::string& id, const std::string& fingerprint) {
  const std::lock_guard lock(mutex_);
  const Listed& run = runs_.at(id);
  const bool may_have_ended =
      run.entry.find(R"("state":"running")") != std::string::npos &&
      run.since_read.seconds() > kLockSeconds;
  const bool rests =
      run.read_seconds > kLongSeconds && run.since_read.seconds() < 10 * run.read_seconds;
  return (run.fingerprint != fingerprint || may_have_ended) && !rests;
}

void RunIndex::read(const std::string& id, const fs::path& folder,
                    const std::string& fingerprint) {
  const Stopwatch watch;
  const std::optional<std::string> link = link_out_of(folder);
  json entry;
  try {
    entry = link ? unread_entry(id, "a link that leads out of the run's folder: " + *link)
                 : run_entry(read_run_record(folder), id);
  } catch (const std::exception& error) {  // the folder has vanished meanwhile
    entry = unread_entry(id, error.what());
  }
  const std::lock_guard lock(mutex_);
  Listed& run = runs_.at(id);
  run.fingerprint = fingerprint;
  run.readable = !link;
  run.read_seconds = watch.seconds();
  run.since_read.restart();
  entry["version"] = run.version = ++version_;
  run.entry = json_text(entry);
}

std::string RunIndex::changes_since(std::uint64_t version) {
  const std::lock_guard lock(mutex_);
  const bool complete = version < first_version_ || version > version_;
  std::vector<std::string> runs;
  std::size_t reading = scans_ == 0 ? 1 : 0;  // at least, before the first look
  for (const auto& [id, run] : runs_) {
    if (run.entry.empty()) ++reading;
    if (!run.entry.empty() && (complete || run.version > version)) {
      runs.push_back(run.entry);
    }
  }
  json removed = json::array();
  for (const auto& [id, when] : removed_) {
    if (!complete && when > version) removed.push_back(id);
  }
  json sweeps = json::array();
  for (const auto& [id, folder] : sweeps_) sweeps.push_back(id);
  return fmt::format(
      R"({{"version":{},"complete":{},"reading":{},"removed":{},"sweeps":{},"runs":[{}]}})",
      version_, complete, reading, json_text(removed), json_text(sweeps),
      join(runs, ","));
}

std::optional<fs::path> RunIndex::folder_of_run(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = runs_.find(id);
  if (found == runs_.end()) return {};
  return found->second.folder;
}

std::optional<fs::path> RunIndex::folder_of_sweep(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto found = sweeps_.find(id);
  if (found == sweeps_.end() || !has_own_sweep(found->second)) return {};
  return found->second;
}

std::optional<fs::path> RunIndex::find(const std::string& id) {
  const std::optional<fs::path> folder = folder_of_run(id);
  if (!folder || link_out_of(*folder)) return {};
  return folder;
}

void RunIndex::wait_for_scan() {
  std::unique_lock lock(mutex_);
  // The one that is under way may have begun before.
  const std::uint64_t wanted = scans_ + 2;
  while (scans_ < wanted) {
    hurries_ = true;
    changed_.notify_all();
    changed_.wait_for(lock, std::chrono::milliseconds(20));
  }
}

}  // namespace convoy
