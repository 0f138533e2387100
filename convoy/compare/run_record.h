// SPDX-License-Identifier: Apache-2.0
//
// RunRecord: what the folder of a run says about the run, whether it is finished or not.
//
// It is read from config.yaml, metrics.jsonl and summary.json. A run that is being
// written at the same time is read as far as it has come.

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/settings/settings.h"

namespace convoy {

enum class RunState {
  finished,    // it ended by itself
  stopped,     // it ended on request and can be resumed
  failed,      // it ended with an error, such as a loss that is not finite
  running,     // a process writes it now
  unfinished,  // it was killed, or never began
  broken       // files of it cannot be read
};

/// "finished".
std::string_view name_of(RunState state);

struct RunScore {
  double loss = 0;  // not a number if the loss was not finite
  double accuracy = 0;
};

/// An epoch of training.
struct RunEpoch {
  int epoch = 0;
  std::uint64_t step = 0;  // after it
  RunScore score{};        // on the training set, during the epoch
  double seconds = 0;      // without evaluations
  double images_per_second = 0;
};

/// An evaluation during training.
struct RunEvaluation {
  std::string split{};  // "val", "test"
  std::uint64_t step = 0;
  int epoch = 0;
  RunScore score{};
  double seconds = 0;  // of the epochs before it, without evaluations
};

/// From summary.json, which the end of a run writes.
struct RunResult {
  std::string weights_sha256{};
  std::string strategy{};
  int ranks = 1, threads = 1;  // threads of one rank
  int epochs = 0;
  std::uint64_t steps = 0;
  double total_seconds = 0, training_seconds = 0;  // of the last process of the run
  std::optional<double> virtual_seconds{};         // of a run on a virtual cluster
  double images_per_second = 0;                    // while training
  double step_ms = 0;                              // the mean, without the first step
  std::uint64_t bytes_sent = 0;                    // of all ranks together
  std::uint64_t peak_rss_bytes = 0;                // of the rank that took most
  std::uint64_t planned_bytes = 0;                 // of the first rank; 0: unknown
  std::optional<RunScore> train{}, test{};         // of the last epoch; at the end
  int exit_code = 0;
  std::string exit_reason{};
};

struct RunRecord {
  std::filesystem::path folder{};
  RunState state = RunState::unfinished;
  /// What could not be read, and why; one text per file.
  std::vector<std::string> problems{};
  std::optional<Settings> settings{};  // if config.yaml can be read
  std::optional<RunResult> result{};   // if summary.json can be read
  std::vector<RunEpoch> epochs{};
  std::vector<RunEvaluation> evaluations{};
  std::uint64_t last_step = 0;  // of all records: how far it has come

  std::string name() const { return folder.filename().string(); }
  /// The last evaluation on that split, if there is one; for "test" the summary's.
  std::optional<RunScore> score(std::string_view split) const;
  /// Training time and speed: the summary's, else those of the epochs so far.
  std::optional<double> training_seconds() const;
  std::optional<double> images_per_second() const;
};

/// The state that follows from the run's files, and from whether a process writes them.
RunState state_of(const RunRecord& run, bool in_use);

/// Reads a run's folder. Whatever is wrong with its files is among the problems; nothing
/// is thrown for it. `metrics`, if given, becomes the text of metrics.jsonl, as far as it
/// can be read. Throws a storage error if there is no such folder.
RunRecord read_run_record(const std::filesystem::path& folder,
                          std::string* metrics = nullptr);

/// The first evaluation whose accuracy is `target` or more: on the validation set, or on
/// the test set if there is none.
std::optional<RunEvaluation> first_reaching(const RunRecord& run, double target);

/// The runs below `path`, in natural order of their names (2 before 10): the folder
/// itself if it is a run, otherwise the runs in it, at most three levels deep.
std::vector<std::filesystem::path> runs_below(const std::filesystem::path& path);

/// As runs_below(); throws InputError if there is none.
std::vector<std::filesystem::path> find_runs(const std::filesystem::path& path);

}  // namespace convoy
