// SPDX-License-Identifier: Apache-2.0
//
// A layer's options as named values, for files: what fields() of an options struct lists
// is written and read by name.
//
//   struct MaxPool {
//     int window; int stride = 0;
//     static auto fields() { return std::tuple{Field{"window", &MaxPool::window}, ...}; }
//   };

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

namespace convoy {

using OptionValue =
    std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>>;
using LayerOptions = std::map<std::string, OptionValue>;

template <class Options, class Value>
struct Field {
  const char* name;
  Value Options::*member;
};
template <class Options, class Value>
Field(const char*, Value Options::*) -> Field<Options, Value>;

/// Throws InputError if the option is missing or of another type.
void read_option(const char* layer, const LayerOptions& options, const char* name,
                 bool& value);
void read_option(const char* layer, const LayerOptions& options, const char* name,
                 int& value);
void read_option(const char* layer, const LayerOptions& options, const char* name,
                 float& value);
void read_option(const char* layer, const LayerOptions& options, const char* name,
                 std::string& value);
void read_option(const char* layer, const LayerOptions& options, const char* name,
                 std::vector<int>& value);

/// Throws InputError if there are options of other names.
void refuse_unknown_options(const char* layer, const LayerOptions& options,
                            const std::vector<std::string>& known);

inline OptionValue option_value(bool value) { return value; }
inline OptionValue option_value(int value) { return std::int64_t{value}; }
inline OptionValue option_value(float value) { return static_cast<double>(value); }
inline OptionValue option_value(const std::string& value) { return value; }
inline OptionValue option_value(const std::vector<int>& value) {
  return std::vector<std::int64_t>(value.begin(), value.end());
}

template <class Options>
LayerOptions options_of(const Options& options) {
  LayerOptions result;
  std::apply(
      [&](const auto&... field) {
        (result.emplace(field.name, option_value(options.*field.member)), ...);
      },
      Options::fields());
  return result;
}

template <class Options>
Options read_options(const char* layer, const LayerOptions& options) {
  Options result{};
  std::apply(
      [&](const auto&... field) {
        refuse_unknown_options(layer, options, {field.name...});
        (read_option(layer, options, field.name, result.*field.member), ...);
      },
      Options::fields());
  return result;
}

}  // namespace convoy
