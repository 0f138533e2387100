// SPDX-License-Identifier: Apache-2.0
//
// Console: where a launcher writes what its ranks print, in whole lines.
//
// On a terminal rank 0 draws a progress bar, which is passed on unchanged; a line of
// another rank first wipes the bar, which rank 0 draws again a moment later.

#pragma once

#include <string_view>

namespace convoy {

enum class Stream { out, err };

class Console {
 public:
  /// Descriptors that must stay open. A failed write ends nothing.
  Console(int out, int err, bool terminal) : out_(out), err_(err), terminal_(terminal) {}

  bool is_terminal() const { return terminal_; }

  /// A line, with `prefix` before it, and '?' for control characters.
  void line(Stream stream, std::string_view prefix, std::string_view text);

  /// What rank 0 draws on the terminal.
  void pass(std::string_view bytes);

  /// From now on nothing is written but by say().
  void close() { closed_ = true; }

  /// A last message to stderr.
  void say(std::string_view text);

  /// errno of the first write to the output that failed; 0: none has. A reader that went
  /// away is no failure.
  int lost_output() const { return lost_output_; }

 private:
  void wipe_bar();
  void write_out(std::string_view text);

  int out_, err_;
  bool terminal_;
  bool in_line_ = false;  // the terminal's cursor is behind a bar
  bool closed_ = false;
  int lost_output_ = 0;
};

/// The escape sequence that wipes a line, by which a bar is drawn over.
inline constexpr std::string_view kWipe = "\r\x1b[K";

}  // namespace convoy
