// SPDX-License-Identifier: Apache-2.0
//
// Progress: how far a run has come, for whoever watches it.
//
// On a terminal, one line that is drawn over, and permanent lines above it:
//
//   epoch 1/3  loss 0.412  accuracy 87.1 %
//   epoch 2/3 [======>      ]   50%  loss 0.305  acc 91.2%  5,210 images/s  ETA 1:15
//   1:15
//
// Elsewhere (a file, a pipe) plain lines, now and then, without control characters.
// A failed write is ignored: a run does not end because nobody watches.

#pragma once

#include <array>
#include <cstddef>
#include <cstdio>
#include <string_view>

#include "convoy/base/clock.h"

namespace convoy {

/// What is not finite or negative is unknown, and shown as such or left out.
struct ProgressState {
  int epoch = 1;  // from 1
  int epochs = 1;
  std::size_t step = 0;  // done in this epoch
  std::size_t steps_in_epoch = 0;
  double loss = -1;
  double accuracy = -1;  // 0 .. 1
  double images_per_second = -1;
  double seconds_left = -1;  // of the whole run
};

class Progress {
 public:
  /// Writes to `out`, which must outlive it. `width` is the terminal's, in columns. Off
  /// a terminal, a line comes at most every `plain_seconds`, the first after as long.
  Progress(std::FILE* out, bool terminal, int width, double plain_seconds = 10);

  /// finish().
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shows the state if it is time to, at most ten times a second. Cheap otherwise: looks
  /// at the clock, allocates nothing.
  void update(const ProgressState& state);

  /// Prints a line that stays, above the bar.
  void line(std::string_view text);

  /// Removes the bar. A later update() draws it again.
  void finish();

 private:
  void draw_bar();
  void clear_bar();

  std::FILE* out_;
  bool terminal_;
  std::size_t width_;
  double seconds_between_;
  Stopwatch since_shown_;
  bool shown_before_ = false;
  std::array<char, 256> bar_{};  // as last drawn
  std::size_t bar_size_ = 0;     // 0: there is none
};

/// Whether control characters make sense there (a terminal that is not "dumb").
bool is_terminal(std::FILE* file);

/// Columns of the terminal, or of the environment's COLUMNS, or 80.
int terminal_width(std::FILE* file);

}  // namespace convoy
