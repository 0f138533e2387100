// SPDX-License-Identifier: Apache-2.0

#include "convoy/s3/location.h"

#include <algorithm>
#include <vector>

#include "convoy/base/error.h"

namespace convoy {
namespace {

constexpr std::string_view kScheme = "s3://";
// S3 allows 1024 bytes; the rest is for convoy's names.
constexpr std::size_t kLongestKey = 800;

bool is_lower_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool is_bucket(std::string_view name) {
  return name.size() >= 3 && name.size() <= 63 && is_lower_or_digit(name.front()) &&
         is_lower_or_digit(name.back()) && name.find("..") == std::string_view::npos &&
         std::ranges::all_of(
             name, [](char c) { return is_lower_or_digit(c) || c == '.' || c == '-'; });
}

/// Characters that Amazon advises against in keys, and all invisible ones.
bool is_refused(char c) {
  const auto code = static_cast<unsigned char>(c);
  return code < 0x20 || code == 0x7f ||
         std::string_view("\\?#%{}^`[]\"<>|").find(c) != std::string_view::npos;
}

std::vector<std::string_view> parts_of(std::string_view key) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= key.size();) {
    const std::size_t end = std::min(key.find('/', begin), key.size());
    parts.push_back(key.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool is_key(std::string_view key) {
  if (key.empty()) return true;
  return key.size() <= kLongestKey && std::ranges::none_of(key, is_refused) &&
         std::ranges::none_of(parts_of(key), [](std::string_view part) {
           return part.empty() || part == "." || part == "..";
         });
}

InputError refusal(const std::string& where, const std::string& found,
                   const std::string& expected) {
  return {InputKind::settings,
          {.where = where,
           .found = found,
           .expected = expected,
           .hint = "for example s3://my-bucket/experiments"}};
}

}  // namespace

bool is_s3_location(std::string_view text) { return text.starts_with("s3:"); }

S3Location S3Location::parse(const std::string& text, const std::string& where) {
  if (!text.starts_with(kScheme)) {
    throw refusal(where, "'" + text + "'", "s3://bucket/prefix");
  }
  const std::string rest = text.substr(kScheme.size());
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  S3Location location{.bucket = rest.substr(0, slash)};
  if (slash < rest.size()) location.key = rest.substr(slash + 1);
  if (location.key.ends_with('/')) location.key.pop_back();
  if (!is_bucket(location.bucket)) {
    throw refusal(where, "bucket '" + location.bucket + "'",
                  "3 to 63 small letters, digits, '-' and '.'");
  }
  if (!is_key(location.key)) {
    throw refusal(where, "prefix '" + location.key + "'",
                  "names between single '/', without any of \\?#%{}^`[]\"<>|");
  }
  return location;
}

std::string S3Location::text() const {
  return std::string(kScheme) + bucket + (key.empty() ? "" : "/" + key);
}

S3Location S3Location::operator/(std::string_view name) const {
  return {bucket, key.empty() ? std::string(name) : key + "/" + std::string(name)};
}

S3Location S3Location::parent() const {
  const std::size_t slash = key.rfind('/');
  return {bucket, slash == std::string::npos ? "" : key.substr(0, slash)};
}

std::string S3Location::name() const {
  const std::size_t slash = key.rfind('/');
  return slash == std::string::npos ? key : key.substr(slash + 1);
}

}  // namespace convoy
