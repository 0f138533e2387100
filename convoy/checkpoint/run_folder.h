// SPDX-License-Identifier: Apache-2.0
//
// RunFolder: the folder of a run, and the files that it appends to line by line.
//
//   config.yaml     every setting              written atomically
//   metrics.jsonl   one JSON object per line   appended, on disk within about a second
//   log.txt         what was printed, dated    appended at once
//   resources.csv   resource usage per rank    appended by flush()
//   summary.json    the result                 written atomically
//
// A reader never sees part of a line or of an atomically written file. A lock ensures
// that one process writes a folder; one thread at a time uses an object of this class.

#pragma once

#include <ctime>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace convoy {

/// Every method throws a storage error, naming the file, when it cannot be written.
class RunFolder {
 public:
  /// Makes the folder `dir`/`name`, and `dir` if needed. Throws a settings error if the
  /// name is taken or not a valid folder name. With an empty name it uses `default_name`,
  /// with -2, -3 ... appended if that is taken; concurrent processes get different names.
  static RunFolder create(const std::filesystem::path& dir, const std::string& name,
                          const std::string& default_name);

  /// Whether a process is writing that run now.
  static bool is_in_use(const std::filesystem::path& path);

  /// Opens a run's folder to continue the run. An incomplete last line, left by a kill,
  /// is removed. Throws a settings error if another process writes it.
  static RunFolder open(const std::filesystem::path& path);

  /// Writes what is buffered; errors are not reported.
  ~RunFolder();
  RunFolder(RunFolder&&) noexcept;
  RunFolder& operator=(RunFolder&&) noexcept;

  /// Removes the records of steps after `step`, and records of later epochs and
  /// evaluations unless that epoch was `evaluated`, because they will be written again.
  /// Returns their number.
  std::size_t forget_after(std::size_t step, bool evaluated);

  const std::filesystem::path& path() const { return path_; }
  std::string name() const { return path_.filename().string(); }

  /// Appends a line to metrics.jsonl: immediately if a second has passed since the last
  /// write, otherwise with a later record() or flush(). NaN becomes null.
  void record(const nlohmann::ordered_json& line);

  /// Appends a line to log.txt, prefixed with date and time.
  void log(std::string_view line);

  /// Appends rows to resources.csv. A new file begins with the header.
  void start_resources(std::string_view header);
  void add_resources(std::string_view row);

  /// Passes all records to the operating system: they survive the process, but not a
  /// power cut.
  void flush();

  void write_config(std::string_view yaml);
  void write_summary(const nlohmann::ordered_json& summary);

 private:
  struct Files;

  explicit RunFolder(std::filesystem::path path);

  std::filesystem::path path_;
  std::unique_ptr<Files> files_;
};

/// Returns "2026-11-15_21-54-03_lenet5_single", in local time.
std::string default_run_name(std::string_view model, std::string_view strategy,
                             std::time_t time);

}  // namespace convoy
