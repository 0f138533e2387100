// SPDX-License-Identifier: Apache-2.0
//
// Untrusted JSON. All JSON files are read by parse_json, which limits depth and size
// before it builds anything, so that no text overflows the stack. JsonObject reads
// fields, and refuses by name those that are missing or have another type.

#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace convoy {

inline constexpr int kMostJsonLevels = 64;
inline constexpr std::size_t kMostJsonBytes = std::size_t{1} << 26;

/// What the error message says besides what was found.
struct JsonSource {
  std::string where;  // the file
  std::string expected = "JSON";
  std::string hint = "";
};

/// Throws InputError of kind `data` for text that is not JSON, is nested more than
/// kMostJsonLevels deep, or has more than kMostJsonBytes.
nlohmann::ordered_json parse_json(std::string_view text, const JsonSource& source);

/// JSON as text, in one line unless it is indented. Bytes that are not UTF-8, which names
/// of files may have, are replaced: JSON has none.
std::string json_text(const nlohmann::ordered_json& value, int indent = -1);

/// Borrows the JSON. Every method throws InputError of kind `data` that names the file
/// and the field: "state.json: course.plateau.factor".
class JsonObject {
 public:
  /// Throws unless it is an object.
  JsonObject(const nlohmann::ordered_json& json, JsonSource source);

  bool contains(std::string_view name) const;
  const nlohmann::ordered_json& field(std::string_view name) const;
  JsonObject object(std::string_view name) const;
  std::string text(std::string_view name) const;
  bool boolean(std::string_view name) const;
  /// Returns a finite number.
  double number(std::string_view name) const;
  /// Returns a number above 0.
  double positive(std::string_view name,
                  double most = std::numeric_limits<double>::max()) const;
  std::uint64_t whole(
      std::string_view name, std::uint64_t least = 0,
      std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) const;
  /// As whole(), for an int.
  int count(std::string_view name) const;

  [[noreturn]] void refuse(std::string_view name, const std::string& expected) const;

 private:
  const nlohmann::ordered_json& json_;
  JsonSource source_;
  std::string prefix_;  // of the field names
};

}  // namespace convoy
