// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layer_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "convoy/base/error.h"
#include "convoy/base/text.h"

namespace convoy {
namespace {

[[noreturn]] void refuse_option(const char* layer, const std::string& name,
                                const std::string& found, const std::string& expected) {
  throw InputError(InputKind::data, {.where = fmt::format("layer {}: {}", layer, name),
                                     .found = found,
                                     .expected = expected,
                                     .hint = ""});
}

/// An option that is not given keeps its default.
template <class Stored>
const Stored* find_option(const char* layer, const LayerOptions& options,
                          const char* name, const char* expected) {
  const auto option = options.find(name);
  if (option == options.end()) return nullptr;
  const auto* value = std::get_if<Stored>(&option->second);
  if (value == nullptr) refuse_option(layer, name, "a value of another type", expected);
  return value;
}

int checked_int(const char* layer, const char* name, std::int64_t value) {
  const bool fits = value >= std::numeric_limits<int>::min() &&
                    value <= std::numeric_limits<int>::max();
  if (!fits) refuse_option(layer, name, fmt::format("{}", value), "a number of 32 bits");
  return static_cast<int>(value);
}

}  // namespace

void read_option(const char* layer, const LayerOptions& options, const char* name,
                 bool& value) {
  if (const auto* found = find_option<bool>(layer, options, name, "true or false")) {
    value = *found;
  }
}

void read_option(const char* layer, const LayerOptions& options, const char* name,
                 int& value) {
  if (const auto* found =
          find_option<std::int64_t>(layer, options, name, "a whole number")) {
    value = checked_int(layer, name, *found);
  }
}

void read_option(const char* layer, const LayerOptions& options, const char* name,
                 float& value) {
  const auto option = options.find(name);
  if (option == options.end()) return;
  if (const auto* whole = std::get_if<std::int64_t>(&option->second)) {
    value = static_cast<float>(*whole);
    return;
  }
  value = static_cast<float>(*find_option<double>(layer, options, name, "a number"));
}

void read_option(const char* layer, const LayerOptions& options, const char* name,
                 std::string& value) {
  if (const auto* found = find_option<std::string>(layer, options, name, "a text")) {
    value = *found;
  }
}

void read_option(const char* layer, const LayerOptions& options, const char* name,
                 std::vector<int>& value) {
  const auto* found = find_option<std::vector<std::int64_t>>(layer, options, name,
                                                             "a list of whole numbers");
  if (found == nullptr) return;
  value.clear();
  for (const std::int64_t one : *found) value.push_back(checked_int(layer, name, one));
}

void refuse_unknown_options(const char* layer, const LayerOptions& options,
                            const std::vector<std::string>& known) {
  for (const auto& [name, value] : options) {
    if (std::ranges::find(known, name) != known.end()) continue;
    refuse_option(layer, name, "an option that this layer does not have",
                  "one of " + join(known));
  }
}

}  // namespace convoy
