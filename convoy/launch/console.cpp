// SPDX-License-Identifier: Apache-2.0

#include "convoy/launch/console.h"

#include <cerrno>
#include <span>
#include <string>

#include "convoy/base/printable.h"
#include "convoy/system/file.h"

namespace convoy {

void Console::write_out(std::string_view text) {
  const int cause = write_all(out_, std::as_bytes(std::span(text)));
  if (cause != 0 && cause != EPIPE && lost_output_ == 0) lost_output_ = cause;
}

void Console::line(Stream stream, std::string_view prefix, std::string_view text) {
  if (closed_) return;
  wipe_bar();
  const std::string whole = std::string(prefix) + printable(text) + '\n';
  if (stream == Stream::out) return write_out(whole);
  write_all(err_, std::as_bytes(std::span(whole)));
}

void Console::pass(std::string_view bytes) {
  if (closed_ || bytes.empty()) return;
  write_out(bytes);
  in_line_ = bytes.back() != '\n' && !bytes.ends_with(kWipe);
}

void Console::say(std::string_view text) {
  wipe_bar();
  const std::string whole = printable(text);
  write_all(err_, std::as_bytes(std::span(whole)));
}

void Console::wipe_bar() {
  if (terminal_ && in_line_) write_out(kWipe);
  in_line_ = false;
}

}  // namespace convoy
