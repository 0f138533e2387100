// SPDX-License-Identifier: Apache-2.0
//
// Foreign JSON: files that anybody may have written. parse_json is the only way in: depth
// and size are bounded before anything is built, so that no text overflows the stack.
// JsonObject reads fields, and refuses by name those that are missing or of another type.

#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace convoy {

inline constexpr int kMostJsonLevels = 64;
inline constexpr std::size_t kMostJsonBytes = std::size_t{1} << 26;

/// What the refusal of a text says besides what was found.
struct JsonSource {
  std::string where;  // the file
  std::string expected = "JSON";
  std::string hint = "";
};

/// Throws InputError of kind `data` for what is no JSON, is nested more than
/// kMostJsonLevels deep, or has more than kMostJsonBytes.
nlohmann::ordered_json parse_json(std::string_view text, const JsonSource& source);

/// Borrows the JSON. Every method throws InputError of kind `data` that names the file
/// and the field: "state.json: course.plateau.factor".
class JsonObject {
 public:
  /// Refuses what is no object.
  JsonObject(const nlohmann::ordered_json& json, JsonSource source);

  bool contains(std::string_view name) const;
  const nlohmann::ordered_json& field(std::string_view name) const;
  JsonObject object(std::string_view name) const;
  std::string text(std::string_view name) const;
  bool boolean(std::string_view name) const;
  /// A number that is finite.
  double number(std::string_view name) const;
  /// A number above 0.
  double positive(std::string_view name,
                  double most = std::numeric_limits<double>::max()) const;
  std::uint64_t whole(
      std::string_view name, std::uint64_t least = 0,
      std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) const;
  /// As whole(), where the program has an int.
  int count(std::string_view name) const;

  [[noreturn]] void refuse(std::string_view name, const std::string& expected) const;

 private:
  const nlohmann::ordered_json& json_;
  JsonSource source_;
  std::string prefix_;  // of the fields' names
};

}  // namespace convoy
