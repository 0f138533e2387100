// SPDX-License-Identifier: Apache-2.0
//
// Console: where a launcher prints the output of its ranks, in complete lines.
//
// On a terminal, rank 0 draws a progress bar, which is passed on unchanged; a line of
// another rank first erases the bar, which rank 0 soon draws again.

#pragma once

#include <string_view>

namespace convoy {

enum class Stream { out, err };

class Console {
 public:
  /// The descriptors must stay open. A failed write ends nothing.
  Console(int out, int err, bool terminal) : out_(out), err_(err), terminal_(terminal) {}

  bool is_terminal() const { return terminal_; }

  /// Prints a line after `prefix`, with '?' for control characters.
  void line(Stream stream, std::string_view prefix, std::string_view text);

  /// Passes on what rank 0 draws on the terminal.
  void pass(std::string_view bytes);

  /// From now on only say() prints.
  void close() { closed_ = true; }

  /// Prints a last message to stderr.
  void say(std::string_view text);

  /// errno of the first failed write to the output; 0: none. A closed pipe is not a
  /// failure.
  int lost_output() const { return lost_output_; }

 private:
  void wipe_bar();
  void write_out(std::string_view text);

  int out_, err_;
  bool terminal_;
  bool in_line_ = false;  // the terminal's cursor is at the end of a bar
  bool closed_ = false;
  int lost_output_ = 0;
};

/// The escape sequence that erases a line; a bar is redrawn with it.
inline constexpr std::string_view kWipe = "\r\x1b[K";

}  // namespace convoy
