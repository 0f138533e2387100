// SPDX-License-Identifier: Apache-2.0
//
// Progress: shows how far a run has come.
//
// On a terminal, there is one line that is redrawn, and permanent lines above it:
//
//   Epoch: 1, Train Loss: 0.412, Train Accuracy: 0.871, ...
//   epoch 2/3 [======>     ]  50%  step 469/938  loss 0.305  acc 91.2%  5,210 images/s
//
// The bar and the percentage are those of the whole run. Elsewhere (a file, a pipe) plain
// lines are printed from time to time, without control characters. A failed write is
// ignored: a run does not end because its output is closed.

#pragma once

#include <array>
#include <cstddef>
#include <cstdio>
#include <string_view>

#include "convoy/base/clock.h"

namespace convoy {

/// A value that is not finite or negative is unknown; it is shown as such or left out.
struct ProgressState {
  int epoch = 1;  // from 1
  int epochs = 1;
  std::size_t step = 0;  // of this epoch, so far
  std::size_t steps_in_epoch = 0;
  double part_done = 0;  // fraction of the whole run, 0 .. 1
  double loss = -1;
  double accuracy = -1;  // 0 .. 1
  double images_per_second = -1;
  double seconds_left = -1;  // of the whole run
  int slow_rank = -1;        // that the others wait for; -1: none
  double slow_by = 0;        // fraction by which it is slower than the others
};

enum class ProgressStyle {
  bar,    // on a terminal
  plain,  // lines from time to time
  log,    // permanent lines only
  quiet,  // nothing
  json    // records only, one object per line
};

struct ProgressOptions {
  ProgressStyle style = ProgressStyle::plain;
  int width = 80;             // of the terminal, in columns
  bool colour = false;        // of the bar
  double plain_seconds = 10;  // minimum interval of plain lines
  char line_prefix = 0;       // before each permanent line; 0: none
};

class Progress {
 public:
  /// Writes to `out`, which must outlive it.
  Progress(std::FILE* out, const ProgressOptions& options);

  /// Calls finish().
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shows the state if it is due, at most ten times per second. Otherwise it only reads
  /// the clock and allocates nothing.
  void update(const ProgressState& state);

  /// Prints a permanent line, above the bar.
  void line(std::string_view text);

  /// Prints a record, which is one line of JSON, in mode json.
  void record(std::string_view json);
  bool wants_records() const { return options_.style == ProgressStyle::json; }

  /// Removes the bar. A later update() draws it again.
  void finish();

 private:
  bool has_bar() const { return options_.style == ProgressStyle::bar; }
  bool has_lines() const {
    return options_.style != ProgressStyle::quiet && !wants_records();
  }
  void write_line(std::string_view text);
  void draw_bar();
  void clear_bar();

  std::FILE* out_;
  ProgressOptions options_;
  std::size_t width_;
  double seconds_between_;
  Stopwatch since_shown_;
  bool shown_before_ = false;
  std::array<char, 320> bar_{};  // as last drawn
  std::size_t bar_size_ = 0;     // 0: no bar is shown
};

/// Whether the stream is a terminal that supports control sequences (not "dumb").
bool is_terminal(std::FILE* file);

/// False if NO_COLOR is set (https://no-color.org).
bool colours_are_wanted();

/// Columns of the terminal, or of COLUMNS in the environment, or 80.
int terminal_width(std::FILE* file);

}  // namespace convoy
