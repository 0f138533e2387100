// SPDX-License-Identifier: Apache-2.0

#include "convoy/study/sweep_values.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <set>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/study/decimal_range.h"

namespace convoy {
namespace {

using Texts = std::vector<std::string>;

const Texts kFunctions = {"range", "choice", "glob", "interval", "log_interval", "tag"};

InputError grammar_error(const std::string& where, const std::string& found,
                         const std::string& expected, const std::string& hint = "") {
  return {InputKind::settings,
          {.where = where, .found = found, .expected = expected, .hint = hint}};
}

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Finds commas that are outside quotes and brackets.
class Splitter {
 public:
  Splitter(std::string_view text, const std::string& where)
      : text_(text), where_(where) {}

  /// The elements between the commas, trimmed. Throws InputError if brackets or quotes
  /// have no end.
  Texts elements() {
    Texts found;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text_.size(); ++i) {
      if (!take(i) || text_[i] != ',' || !open_.empty()) continue;
      found.emplace_back(trim(text_.substr(begin, i - begin)));
      begin = i + 1;
    }
    if (quote_ != 0 || !open_.empty()) throw unbalanced();
    found.emplace_back(trim(text_.substr(begin)));
    return found;
  }

 private:
  /// Whether the character at `i` is outside quotes. A backslash in quotes takes the next
  /// character with it.
  bool take(std::size_t& i) {
    const char c = text_[i];
    if (quote_ != 0) {
      if (c == '\\') ++i;
      if (c == quote_) quote_ = 0;
      return false;
    }
    if (c == '\'' || c == '"') quote_ = c;
    if (c == '(' || c == '[' || c == '{') open_.push_back(c);
    if (c == ')' || c == ']' || c == '}') close(c);
    return quote_ == 0;
  }

  void close(char c) {
    const char opening = c == ')' ? '(' : c == ']' ? '[' : '{';
    if (open_.empty() || open_.back() != opening) throw unbalanced();
    open_.pop_back();
  }

  InputError unbalanced() const {
    return grammar_error(where_, std::string(text_), "brackets and quotes in pairs",
                         "a text with brackets, quotes or commas takes quotes: 'a,b'");
  }

  std::string_view text_;
  const std::string& where_;
  std::string open_;  // brackets
  char quote_ = 0;
};

/// A text without its quotes, if it has some.
std::string unquote(const std::string& text) {
  const bool quoted = text.size() >= 2 && (text.front() == '\'' || text.front() == '"') &&
                      text.back() == text.front();
  if (!quoted) return text;
  std::string plain;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    const bool escapes = text[i] == '\\' && i + 2 < text.size() &&
                         (text[i + 1] == text.front() || text[i + 1] == '\\');
    if (escapes) ++i;
    plain += text[i];
  }
  return plain;
}

/// "range" of "range(1,4)"; empty if the text is no call.
std::string function_of(const std::string& text) {
  const std::size_t open = text.find('(');
  if (open == std::string::npos || open == 0 || !text.ends_with(')')) return "";
  const std::string name = text.substr(0, open);
  const auto in_name = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  return std::ranges::all_of(name, in_name) ? name : "";
}

class ValueParser {
 public:
  explicit ValueParser(const SweptSetting& setting) : setting_(setting) {}

  SweepValues parse(std::string_view text) {
    const Texts elements = Splitter(text, setting_.where).elements();
    result_.swept = elements.size() > 1;
    for (const std::string& element : elements) add(element, elements.size() == 1);
    if (result_.values.empty() && !result_.interval) {
      throw grammar_error(setting_.where, fmt::format("{}: no value", text),
                          "at least one value", names_hint());
    }
    refuse_repeated();
    return std::move(result_);
  }

 private:
  void add(const std::string& element, bool alone) {
    const std::string function = function_of(element);
    if (!function.empty()) return call(function, element, alone);
    if (element.empty() && !alone) {
      throw grammar_error(setting_.where, "nothing between two commas",
                          "a value before and after each comma");
    }
    result_.values.push_back(unquote(element));
  }

  void call(const std::string& function, const std::string& element, bool alone) {
    const Texts arguments = arguments_of(element);
    result_.swept = true;
    if (function == "range") {
      append(decimal_range(arguments, setting_.where, setting_.most_values));
    } else if (function == "choice") {
      for (const std::string& one : arguments) add(one, false);
    } else if (function == "glob") {
      append(matches(arguments));
    } else {
      draw_from(function, element, arguments, alone);
    }
  }

  /// Those between the brackets of a call.
  Texts arguments_of(const std::string& element) const {
    const std::size_t open = element.find('(');
    const std::string inside = element.substr(open + 1, element.size() - open - 2);
    if (trim(inside).empty()) return {};
    return Splitter(inside, setting_.where).elements();
  }

  void append(const Texts& values) {
    result_.values.insert(result_.values.end(), values.begin(), values.end());
  }

  Texts matches(const Texts& arguments) const {
    if (setting_.names.empty()) {
      throw grammar_error(setting_.where, "glob()", "a setting that is one of some names",
                          "model=glob(resnet*)");
    }
    constexpr std::string_view kExclude = "exclude=";
    Texts found;
    for (const std::string& name : setting_.names) {
      bool in = false, out = false;
      for (const std::string& one : arguments) {
        const bool excludes = one.starts_with(kExclude);
        const std::string pattern = unquote(excludes ? one.substr(kExclude.size()) : one);
        const bool fits = ::fnmatch(pattern.c_str(), name.c_str(), FNM_NOESCAPE) == 0;
        (excludes ? out : in) |= fits;
      }
      if (in && !out) found.push_back(name);
    }
    return found;
  }

  void draw_from(const std::string& function, const std::string& element,
                 const Texts& arguments, bool alone) {
    if (function == "tag" && arguments.size() == 2 && arguments[0] == "log" &&
        function_of(arguments[1]) == "interval") {
      return set_interval(arguments_of(arguments[1]), element, /*log=*/true, alone);
    }
    if (function != "interval" && function != "log_interval") {
      throw grammar_error(setting_.where, element, "one of " + join(kFunctions),
                          "quotes make it a text: '" + element + "'");
    }
    set_interval(arguments, element, function == "log_interval", alone);
  }

  void set_interval(const Texts& arguments, const std::string& element, bool log,
                    bool alone) {
    const auto number = [&](std::size_t i) {
      return i < arguments.size() ? number_in(arguments[i]) : std::nullopt;
    };
    const std::optional<double> low = number(0), high = number(1);
    const bool valid = alone && arguments.size() == 2 && low && high && *low < *high &&
                       (!log || *low > 0);
    if (!valid) {
      throw grammar_error(setting_.where, element,
                          log ? "one interval of two numbers above 0, the smaller first"
                              : "one interval of two numbers, the smaller first");
    }
    result_.interval = Interval{*low, *high, log, setting_.whole};
  }

  void refuse_repeated() const {
    std::set<std::string> seen;
    for (const std::string& value : result_.values) {
      if (seen.insert(value).second) continue;
      throw grammar_error(setting_.where, fmt::format("{} twice", value),
                          "each value once");
    }
  }

  std::string names_hint() const {
    return setting_.names.empty() ? "" : "names: " + join(setting_.names);
  }

  const SweptSetting& setting_;
  SweepValues result_;
};

}  // namespace

SweepValues parse_sweep_values(std::string_view text, const SweptSetting& setting) {
  return ValueParser(setting).parse(text);
}

}  // namespace convoy
