// SPDX-License-Identifier: Apache-2.0
//
// RunFolder: the folder a run leaves behind, and the files it writes there line by line.
//
//   config.yaml     every setting             written whole
//   metrics.jsonl   one JSON object a line    appended, on disk within a second or so
//   log.txt         what was printed, dated   appended, at once
//   resources.csv   what each rank uses       appended, with flush()
//   summary.json    what came out             written whole
//
// A reader never sees part of a line or of a whole file. One process writes a folder,
// which a lock makes sure of, and one thread at a time calls an object of this class.

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
  /// Makes the folder `dir`/`name`, and `dir` too. Throws a settings error if the name is
  /// taken or is no folder's name. With an empty name it takes `default_name`, or that
  /// with -2, -3 ... behind it; of several processes each gets its own.
  static RunFolder create(const std::filesystem::path& dir, const std::string& name,
                          const std::string& default_name);

  /// Whether a process is writing that run now.
  static bool is_in_use(const std::filesystem::path& path);

  /// Goes on with a run in its folder. The end of a line that a kill cut off is removed.
  /// Throws a settings error if another process writes it.
  static RunFolder open(const std::filesystem::path& path);

  /// Writes what is not yet written; a failure at this point is not reported.
  ~RunFolder();
  RunFolder(RunFolder&&) noexcept;
  RunFolder& operator=(RunFolder&&) noexcept;

  /// Removes the records of steps after `step`, and those of epochs and evaluations after
  /// that one unless it was `evaluated`: they are about to be made again. Returns how
  /// many there were.
  std::size_t forget_after(std::size_t step, bool evaluated);

  const std::filesystem::path& path() const { return path_; }
  std::string name() const { return path_.filename().string(); }

  /// Appends a line to metrics.jsonl: now, if a second has passed since it was last
  /// written, else with a later record() or flush(). Not-a-number becomes null.
  void record(const nlohmann::ordered_json& line);

  /// Appends a line to log.txt, with date and time before it.
  void log(std::string_view line);

  /// Appends rows to resources.csv, which begins with the header; a file that is there
  /// already goes on.
  void start_resources(std::string_view header);
  void add_resources(std::string_view row);

  /// Hands all records to the operating system: they survive the process, not a power
  /// cut.
  void flush();

  void write_config(std::string_view yaml);
  void write_summary(const nlohmann::ordered_json& summary);

 private:
  struct Files;

  explicit RunFolder(std::filesystem::path path);

  std::filesystem::path path_;
  std::unique_ptr<Files> files_;
};

/// "2026-11-15_21-54-03_lenet5_single", in local time.
std::string default_run_name(std::string_view model, std::string_view strategy,
                             std::time_t time);

}  // namespace convoy
