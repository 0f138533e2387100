// SPDX-License-Identifier: Apache-2.0

#include "convoy/settings/settings_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/settings/settings_fault.h"

namespace convoy {
namespace {

// ---- reading

template <class Number>
std::errc read(std::string_view text, Number& value) {
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  return stopped == end ? error : std::errc::invalid_argument;
}

std::errc read(std::string_view text, bool& value) {
  if (text != "true" && text != "false") return std::errc::invalid_argument;
  value = text == "true";
  return {};
}

std::errc read(std::string_view text, std::string& value) {
  value = text;
  return {};
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// Parses "[0.1, 0.2]" or "0.1,0.2". An empty text is an empty list.
std::errc read(std::string_view text, Numbers& numbers) {
  numbers.clear();
  text = trimmed(text);
  if (text.starts_with('[') && text.ends_with(']')) {
    text = trimmed(text.substr(1, text.size() - 2));
  }
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::errc error = read(trimmed(text.substr(0, comma)), numbers.emplace_back());
    if (error != std::errc{}) return error;
    if (comma + 1 == text.size()) return std::errc::invalid_argument;  // ends in a comma
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return {};
}

std::errc read_into(std::string_view text, const ChoiceField& choice) {
  const OldName& before = choice.old_name;
  const bool is_old = !before.old.empty() && text == before.old;
  const auto found = std::ranges::find(*choice.names, is_old ? before.now : text);
  if (found == choice.names->end()) return std::errc::invalid_argument;
  choice.set(choice.place, static_cast<std::size_t>(found - choice.names->begin()));
  return {};
}

template <class Plain>
std::errc read_into(std::string_view text, Plain* place) {
  return read(text, *place);
}

// ---- checking

bool within(double value, const Bounds& bounds) {
  return std::isfinite(value) &&
         (bounds.low_open ? value > bounds.low : value >= bounds.low) &&
         (bounds.high_open ? value < bounds.high : value <= bounds.high);
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

template <class Number>
bool obeys(const Rule& rule, Number value) {
  const auto* bounds = std::get_if<Bounds>(&rule);
  return !bounds || within(static_cast<double>(value), *bounds);
}

bool obeys(const Rule&, bool) { return true; }

bool obeys(const Rule& rule, const Numbers& numbers) {
  return std::ranges::all_of(numbers, [&](double one) { return obeys(rule, one); });
}

bool obeys(const Rule&, const std::string& value) {
  return find_bad_utf8(value) == std::string_view::npos &&
         std::ranges::none_of(value, is_control);
}

bool is_obeyed(const Rule&, const ChoiceField& choice) {
  return choice.index(choice.place) < choice.names->size();
}

template <class Plain>
bool is_obeyed(const Rule& rule, const Plain* place) {
  return obeys(rule, *place);
}

bool is_obeyed(const Setting& setting, Settings& settings) {
  return std::visit([&](auto place) { return is_obeyed(setting.rule, place); },
                    setting.field(settings));
}

/// Whether names that are registered in code include it. Of a choice, reading decides.
bool is_option(const Setting& setting, const std::string& value,
               const KnownNames& names) {
  const auto* list = std::get_if<KnownList>(&setting.rule);
  return list == nullptr || contains(names.**list, value);
}

// ---- describing what is allowed

std::string range_text(const Bounds& bounds) {
  std::string text =
      fmt::format("{} {:.10g}", bounds.low_open ? "above" : "from", bounds.low);
  if (std::isinf(bounds.high)) return text;
  const char* to = bounds.high_open ? "to below" : bounds.low_open ? "up to" : "to";
  return fmt::format("{} {} {:.10g}", text, to, bounds.high);
}

std::string type_text(const Field& field) {
  if (std::holds_alternative<bool*>(field)) return "true or false";
  if (std::holds_alternative<std::string*>(field)) {
    return "text in UTF-8 without control characters";
  }
  if (std::holds_alternative<Numbers*>(field)) return "a list of numbers";
  return std::holds_alternative<double*>(field) ? "a number" : "a whole number";
}

std::string overflow_hint(const Field& field) {
  if (std::holds_alternative<int*>(field)) {
    return fmt::format("the largest is {}", std::numeric_limits<int>::max());
  }
  if (std::holds_alternative<std::uint64_t*>(field)) {
    return fmt::format("the largest is {}", std::numeric_limits<std::uint64_t>::max());
  }
  return "a double cannot hold this number";
}

std::string hint_for(const Setting& setting, const Field& field, const std::string& value,
                     std::errc error, const KnownNames& names) {
  if (error == std::errc::result_out_of_range) return overflow_hint(field);
  const auto* all = allowed_names(setting, names);
  return all ? nearest_hint(value, *all) : "";
}

// ---- printing

template <class Plain>
std::string text_of(const Plain& value) {
  return fmt::format("{}", value);
}

std::string text_of(double number) {
  std::string text = fmt::format("{}", number);
  // YAML 1.1, which Python uses, reads 1e-05 as text and 1.0e-05 as a number.
  const std::size_t exponent = text.find('e');
  if (exponent != std::string::npos && text.find('.') == std::string::npos) {
    text.insert(exponent, ".0");
  }
  return text;
}

std::string text_of(const Numbers& numbers) {
  std::vector<std::string> texts;
  for (const double number : numbers) texts.push_back(text_of(number));
  return "[" + join(texts) + "]";
}

std::string text_at(const ChoiceField& choice) {
  return choice.names->at(choice.index(choice.place));
}

template <class Plain>
std::string text_at(const Plain* place) {
  return text_of(*place);
}

// ---- UTF-8

/// Returns the length of the UTF-8 sequence at the beginning of `text`, or 0. RFC 3629:
/// no overlong forms, no surrogates, nothing above U+10FFFF.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  }
  const unsigned second = byte(1);
  const bool outside =
      (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
      (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
  return outside ? 0 : length;
}

}  // namespace

const std::vector<std::string>* allowed_names(const Setting& setting,
                                              const KnownNames& names) {
  if (const auto* list = std::get_if<KnownList>(&setting.rule)) return &(names.**list);
  Settings defaults;
  const Field field = setting.field(defaults);
  const auto* choice = std::get_if<ChoiceField>(&field);
  return choice ? choice->names : nullptr;
}

void assign(const Setting& setting, const SettingAssignment& assignment,
            const KnownNames& names, Settings& settings) {
  const Field field = setting.field(settings);
  const auto* bounds = std::get_if<Bounds>(&setting.rule);
  const bool is_word =
      bounds && !bounds->zero.empty() && assignment.value == bounds->zero;
  const std::string value = is_word ? "0" : assignment.value;
  const std::errc error =
      std::visit([&](auto place) { return read_into(value, place); }, field);
  if (error == std::errc{} && is_obeyed(setting, settings) &&
      is_option(setting, value, names)) {
    return;
  }
  throw settings_error({.where = assignment.where,
                        .found = shown(value),
                        .expected = expected_text(setting, names),
                        .hint = hint_for(setting, field, value, error, names)});
}

void check_value(const Setting& setting, const std::string& where, Settings& settings) {
  if (is_obeyed(setting, settings)) return;
  throw settings_error({.where = where,
                        .found = shown(value_text(setting.field(settings))),
                        .expected = expected_text(setting, {}),
                        .hint = ""});
}

std::string value_text(const Field& field) {
  return std::visit([](const auto& place) { return text_at(place); }, field);
}

std::string expected_text(const Setting& setting, const KnownNames& names) {
  if (const auto* all = allowed_names(setting, names); all && !all->empty()) {
    return "one of " + join(*all);
  }
  if (std::holds_alternative<KnownList>(setting.rule)) {
    return "an option of " + setting.name.substr(0, setting.name.find('.'));
  }
  Settings defaults;
  const std::string type = type_text(setting.field(defaults));
  const auto* bounds = std::get_if<Bounds>(&setting.rule);
  if (!bounds) return type;
  const std::string or_word =
      bounds->zero.empty() ? "" : fmt::format(", or {}", bounds->zero);
  return type + " " + range_text(*bounds) + or_word;
}

std::size_t find_bad_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text.substr(i));
    if (length == 0) return i;
    i += length;
  }
  return std::string_view::npos;
}

}  // namespace convoy
