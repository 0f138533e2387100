// SPDX-License-Identifier: Apache-2.0
//
// EventWriter: writes what TensorBoard shows of a run, to one file in the run's folder:
//
//   events.out.tfevents.<seconds since 1970>.<host>.<process>.<number>
//
//   EventWriter events(folder);
//   events.scalar("train/loss", /*step=*/50, 0.7);
//
// Each record is a message of tensorboard.proto, on disk within about a second. A reader
// can detect an incomplete record. TensorBoard reads the files of a folder in name order
// as one; a new file's name sorts after the existing ones.

#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "convoy/events/record_file.h"

namespace convoy {

/// An operation or a tensor of a graph. Its name is a path: "layer1/0/conv1/Conv2D".
struct GraphNode {
  std::string name;
  std::string op;                                // "Conv2D"
  std::vector<std::string> inputs{};             // names of nodes
  std::vector<std::int64_t> shape{};             // of its output; -1: any size
  std::map<std::string, std::string> details{};  // shown as attributes
};

/// A run's hyperparameters, by name.
using Hparams = std::map<std::string, std::variant<double, std::string, bool>>;

/// Every method throws a storage error, naming the file, when it cannot be written. Tags
/// and texts are UTF-8. One thread at a time may call them.
class EventWriter {
 public:
  /// Creates a file in the folder.
  explicit EventWriter(const std::filesystem::path& folder);

  const std::filesystem::path& path() const { return file_.path(); }

  /// Whether the folder had no event file before.
  bool is_first() const { return first_; }

  /// Steps from this one on are repeated: TensorBoard hides what earlier files contain of
  /// them.
  void start_again(std::size_t first_step);

  void scalar(std::string_view tag, std::size_t step, double value);

  /// Writes nothing if no number is finite.
  void histogram(std::string_view tag, std::size_t step, std::span<const float> numbers);

  /// TensorBoard renders the text as Markdown.
  void text(std::string_view tag, std::string_view markdown);

  void graph(std::span<const GraphNode> nodes);

  /// Makes the run a row of the HParams page; its columns are the hyperparameters and the
  /// scalars with these tags. If several runs are shown together, the first one decides
  /// which columns there are.
  void start_session(const Hparams& hparams, std::span<const std::string> metrics);
  void end_session(bool success);

  void flush() { file_.flush(); }

 private:
  EventWriter(const std::filesystem::path& folder, std::int64_t last_seconds);

  bool first_;
  RecordFile file_;
};

}  // namespace convoy
