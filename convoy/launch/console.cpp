// SPDX-License-Identifier: Apache-2.0

#include "convoy/launch/console.h"

#include <unistd.h>

#include <cerrno>
#include <string>

#include "convoy/base/printable.h"

namespace convoy {
namespace {

void write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

void Console::line(Stream stream, std::string_view prefix, std::string_view text) {
  if (closed_) return;
  wipe_bar();
  const std::string whole = std::string(prefix) + printable(text) + '\n';
  write_all(stream == Stream::out ? out_ : err_, whole);
}

void Console::pass(std::string_view bytes) {
  if (closed_ || bytes.empty()) return;
  write_all(out_, bytes);
  in_line_ = bytes.back() != '\n' && !bytes.ends_with(kWipe);
}

void Console::say(std::string_view text) {
  wipe_bar();
  write_all(err_, printable(text));
}

void Console::wipe_bar() {
  if (terminal_ && in_line_) write_all(out_, kWipe);
  in_line_ = false;
}

}  // namespace convoy
