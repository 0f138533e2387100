// SPDX-License-Identifier: Apache-2.0

#include "convoy/http/content_range.h"

#include <algorithm>
#include <charconv>

#include "convoy/base/text.h"

namespace convoy {
namespace {

constexpr std::uint64_t kMostBytes = 1'000'000'000'000'000;  // of a file

std::optional<std::uint64_t> bytes_in(std::string_view text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end || value > kMostBytes) return std::nullopt;
  return value;
}

}  // namespace

ContentRange content_range(std::string_view header) {
  constexpr std::string_view kUnit = "bytes ";
  const std::size_t slash = header.rfind('/');
  if (!header.starts_with(kUnit) || slash == std::string_view::npos) return {};
  const std::string_view part = header.substr(kUnit.size(), slash - kUnit.size());
  return {bytes_in(part.substr(0, part.find('-'))), bytes_in(header.substr(slash + 1))};
}

std::string wrong_begin(const std::optional<std::uint64_t>& first, std::uint64_t offset) {
  if (first == offset) return "";
  return "bytes from " + (first ? with_commas(*first) : "somewhere") + ", not from " +
         with_commas(offset);
}

}  // namespace convoy
