// SPDX-License-Identifier: Apache-2.0
//
// RunIndex: the runs below a folder, found as they appear, and what a list shows of them.
//
// A thread looks at the folder about once per second. It reads a run again only if its
// files or its lock have changed, so that a list of hundreds of runs costs a few system
// calls per run. Nothing outside the folder is read: links to folders are not followed,
// and a run that contains a link out of its own folder is listed, but not read.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "convoy/base/clock.h"
#include "convoy/compare/run_record.h"

namespace convoy {

/// All public methods may be called from any thread.
class RunIndex {
 public:
  /// Begins to look. Throws a storage error if there is no such folder.
  explicit RunIndex(std::filesystem::path folder);
  ~RunIndex();
  RunIndex(const RunIndex&) = delete;
  RunIndex& operator=(const RunIndex&) = delete;

  /// {"version", "complete", "runs": [...], "removed": [id...], "sweeps": [id...],
  /// "reading": n}: the runs
  /// that have changed since an earlier answer's version, and the ids of those that
  /// disappeared. `complete` says that all runs are among them, and what is not, is no
  /// longer there. `reading` runs were found and are not yet read. A sweep is a folder of
  /// runs with a sweep.json.
  std::string changes_since(std::uint64_t version);

  /// The folder of a run that is listed under that id; nothing if there is none, or it
  /// may not be read.
  std::optional<std::filesystem::path> find(const std::string& id);

  /// The folder of a listed run, which may not be readable.
  std::optional<std::filesystem::path> folder_of_run(const std::string& id);

  /// The folder of a listed sweep.
  std::optional<std::filesystem::path> folder_of_sweep(const std::string& id);

  /// Waits until everything that was there at this moment is read. For tests.
  void wait_for_scan();

 private:
  struct Listed {
    std::filesystem::path folder;
    std::string fingerprint{};  // of its files and lock; empty: not yet read
    std::uint64_t version = 0;  // at which it was read last
    std::string entry{};        // JSON
    bool readable = false;
    double read_seconds = 0;  // that it took
    Stopwatch since_read{};
  };

  void work();
  void scan();
  /// Adds what was found and removes what is gone. Returns the runs in the order in which
  /// they are to be read.
  std::vector<std::pair<std::string, std::filesystem::path>> list_found();
  bool is_due(const std::string& id, const std::string& fingerprint);
  void read(const std::string& id, const std::filesystem::path& folder,
            const std::string& fingerprint);

  const std::filesystem::path folder_;
  std::mutex mutex_;  // protects everything below
  std::condition_variable changed_;
  std::map<std::string, Listed> runs_;                   // by id
  std::map<std::string, std::uint64_t> removed_;         // versions by id
  std::map<std::string, std::filesystem::path> sweeps_;  // folders by id
  std::uint64_t version_, first_version_;
  std::uint64_t scans_ = 0;
  bool stopping_ = false, hurries_ = false;
  std::thread thread_;
};

}  // namespace convoy
