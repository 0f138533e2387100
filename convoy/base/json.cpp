// SPDX-License-Identifier: Apache-2.0

#include "convoy/base/json.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/base/text.h"

namespace convoy {
namespace {

using json = nlohmann::ordered_json;

InputError bad_json(const JsonSource& source, std::string found) {
  return {InputKind::data,
          {.where = source.where,
           .found = std::move(found),
           .expected = source.expected,
           .hint = source.hint}};
}

/// Counts brackets outside strings. For text that is not JSON the count may be wrong, but
/// then the parser refuses the text.
bool is_nested_deeper(std::string_view text, int most) {
  int level = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++level > most) return true;
    } else if (c == ']' || c == '}') {
      --level;
    }
  }
  return false;
}

/// The parser stores such a number as unsigned; a number that was never parsed may be
/// signed.
bool is_whole(const json& value) {
  return value.is_number_unsigned() ||
         (value.is_number_integer() && value.get<std::int64_t>() >= 0);
}

/// Formats a value for a message.
std::string shown_value(const json& value) {
  constexpr std::size_t kLongest = 60;
  const std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
}

}  // namespace

json parse_json(std::string_view text, const JsonSource& source) {
  if (text.size() > kMostJsonBytes) {
    throw bad_json(source, "JSON of more than " + human_bytes(kMostJsonBytes));
  }
  if (is_nested_deeper(text, kMostJsonLevels)) {
    throw bad_json(source,
                   fmt::format("JSON nested more than {} levels deep", kMostJsonLevels));
  }
  // nlohmann's parser takes a zero byte for the end of the text, whatever follows it.
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) {
    throw bad_json(source, fmt::format("invalid JSON at byte {}", zero + 1));
  }
  try {
    return json::parse(text);
  } catch (const json::parse_error& error) {
    throw bad_json(source, fmt::format("invalid JSON at byte {}", error.byte));
  } catch (const json::exception&) {
    throw bad_json(source, "a number beyond 64 bits");
  }
}

std::string json_text(const json& value, int indent) {
  return value.dump(indent, ' ', false, json::error_handler_t::replace);
}

JsonObject::JsonObject(const json& object, JsonSource source)
    : json_(object), source_(std::move(source)) {
  if (!json_.is_object()) throw bad_json(source_, shown_value(json_));
}

bool JsonObject::contains(std::string_view name) const { return json_.contains(name); }

const json& JsonObject::field(std::string_view name) const {
  if (const auto found = json_.find(name); found != json_.end()) return *found;
  throw InputError(InputKind::data, {.where = source_.where,
                                     .found = fmt::format("no {}{}", prefix_, name),
                                     .expected = source_.expected,
                                     .hint = source_.hint});
}

JsonObject JsonObject::object(std::string_view name) const {
  if (!field(name).is_object()) refuse(name, "an object");
  JsonObject inner(field(name), source_);
  inner.prefix_ = fmt::format("{}{}.", prefix_, name);
  return inner;
}

std::string JsonObject::text(std::string_view name) const {
  if (!field(name).is_string()) refuse(name, "a string");
  return field(name).get<std::string>();
}

bool JsonObject::boolean(std::string_view name) const {
  if (!field(name).is_boolean()) refuse(name, "true or false");
  return field(name).get<bool>();
}

double JsonObject::number(std::string_view name) const {
  const json& value = field(name);
  if (!value.is_number() || !std::isfinite(value.get<double>())) refuse(name, "a number");
  return value.get<double>();
}

double JsonObject::positive(std::string_view name, double most) const {
  const json& value = field(name);
  if (value.is_number() && value.get<double>() > 0 && value.get<double>() <= most) {
    return value.get<double>();
  }
  refuse(name, most < std::numeric_limits<double>::max()
                   ? fmt::format("a number above 0, at most {}", most)
                   : "a number above 0");
}

std::uint64_t JsonObject::whole(std::string_view name, std::uint64_t least,
                                std::uint64_t most) const {
  const json& value = field(name);
  if (is_whole(value) && value.get<std::uint64_t>() >= least &&
      value.get<std::uint64_t>() <= most) {
    return value.get<std::uint64_t>();
  }
  refuse(name, most < std::numeric_limits<std::uint64_t>::max()
                   ? fmt::format("a whole number from {} to {}", least, most)
                   : fmt::format("a whole number from {}", least));
}

int JsonObject::count(std::string_view name) const {
  return static_cast<int>(whole(name, 0, std::numeric_limits<int>::max()));
}

void JsonObject::refuse(std::string_view name, const std::string& expected) const {
  throw InputError(InputKind::data,
                   {.where = fmt::format("{}: {}{}", source_.where, prefix_, name),
                    .found = shown_value(field(name)),
                    .expected = expected,
                    .hint = source_.hint});
}

}  // namespace convoy
