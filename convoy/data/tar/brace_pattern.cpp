// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/tar/brace_pattern.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

#include "convoy/base/error.h"

namespace convoy {
namespace {

constexpr std::size_t kMostNames = 100'000;

/// A pattern, and the setting that has it.
struct Pattern {
  const std::string& text;
  const std::string& where;

  [[noreturn]] void refuse(const std::string& expected) const {
    throw InputError(InputKind::settings, {.where = where,
                                           .found = text,
                                           .expected = expected,
                                           .hint = "for example train-{000..099}.tar"});
  }
};

std::optional<std::uint32_t> digits(std::string_view text) {
  std::uint32_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return value;
}

/// As bash pads numbers: if one of them begins with a zero, all have as many digits.
std::size_t padding(std::string_view first, std::string_view last) {
  const auto is_padded = [](std::string_view number) {
    return number.size() > 1 && number.starts_with('0');
  };
  return is_padded(first) || is_padded(last) ? std::max(first.size(), last.size()) : 0;
}

std::vector<std::string> numbers_between(const Pattern& pattern, std::string_view first,
                                         std::string_view last) {
  const auto low = digits(first), high = digits(last);
  if (!low || !high || *high < *low || *high - *low >= kMostNames) {
    pattern.refuse(fmt::format("{{FIRST..LAST}} with at most {} numbers", kMostNames));
  }
  const std::size_t width = padding(first, last);
  std::vector<std::string> names;
  for (std::uint64_t i = *low; i <= *high; ++i) {
    names.push_back(fmt::format("{:0{}}", i, width));
  }
  return names;
}

std::vector<std::string> parts_of(std::string_view list) {
  std::vector<std::string> parts(1);
  for (const char c : list) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// What stands between two braces.
std::vector<std::string> alternatives(const Pattern& pattern, std::string_view inside) {
  const std::size_t dots = inside.find("..");
  if (inside.find('{') != std::string_view::npos) {
    pattern.refuse("braces that are closed, none inside others");
  }
  if (dots == std::string_view::npos) return parts_of(inside);
  return numbers_between(pattern, inside.substr(0, dots), inside.substr(dots + 2));
}

std::vector<std::string> combined(const Pattern& pattern,
                                  const std::vector<std::string>& starts,
                                  const std::vector<std::string>& ends) {
  if (starts.size() * ends.size() > kMostNames) {
    pattern.refuse(fmt::format("a pattern of at most {} names", kMostNames));
  }
  std::vector<std::string> names;
  for (const std::string& start : starts) {
    for (const std::string& end : ends) names.push_back(start + end);
  }
  return names;
}

}  // namespace

std::vector<std::string> expand_braces(const std::string& text,
                                       const std::string& where) {
  const Pattern pattern{text, where};
  std::vector<std::string> names = {""};
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t open = rest.find('{'), close = rest.find('}');
    if (close < open ||
        (open != std::string_view::npos && close == std::string_view::npos)) {
      pattern.refuse("braces that are closed, none inside others");
    }
    names = combined(pattern, names, {std::string(rest.substr(0, open))});
    if (open == std::string_view::npos) break;
    names = combined(pattern, names,
                     alternatives(pattern, rest.substr(open + 1, close - open - 1)));
    rest = rest.substr(close + 1);
  }
  return names;
}

}  // namespace convoy
