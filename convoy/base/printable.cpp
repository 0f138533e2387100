// SPDX-License-Identifier: Apache-2.0

#include "convoy/base/printable.h"

#include <algorithm>

namespace convoy {
namespace {

/// Returns the length of the character that begins here; 0 if it is invalid UTF-8 or a
/// control character.
std::size_t printable_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) {
    const bool shown = (first >= ' ' && first != 0x7F) || first == '\n' || first == '\t';
    return shown ? 1 : 0;
  }
  const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool second_set_of_controls = first == 0xC2 && byte(1) < 0xA0;
  return second_set_of_controls ? 0 : size;
}

/// Finds the '@' that ends user and password; npos if there are none. A password that
/// contains a '/', which is invalid in a URL, is found as well, so that it is not
/// printed.
std::size_t end_of_user(const std::string& text, std::size_t begin) {
  const std::string authority = text.substr(0, text.find_first_of("/?#", begin));
  const std::size_t at = authority.rfind('@');
  if (at != std::string::npos && at >= begin) return at;
  const std::size_t colon = authority.find(':', begin);
  const bool is_port =
      colon == std::string::npos ||
      authority.find_first_not_of("0123456789", colon + 1) == std::string::npos;
  return is_port ? std::string::npos : text.rfind('@');
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const std::size_t size = printable_bytes(text);
    shown += size > 0 ? text.substr(0, size) : "?";
    text.remove_prefix(std::max<std::size_t>(1, size));
  }
  return shown;
}

std::string without_password(std::string_view address) {
  std::string text(address);
  const std::size_t scheme = text.find("://");
  if (scheme == std::string::npos) return text;
  const std::size_t begin = scheme + 3;
  const std::size_t at = end_of_user(text, begin);
  if (at == std::string::npos) return text;
  const std::size_t colon = text.find(':', begin);
  // A token may be given as the user.
  const std::size_t secret = colon < at ? colon + 1 : begin;
  return text.replace(secret, at - secret, "***");
}

}  // namespace convoy
