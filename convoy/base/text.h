// SPDX-License-Identifier: Apache-2.0
//
// Small helpers for text that people read: the nearest name, sizes, counts, durations.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace convoy {

/// Returns the candidate with the smallest edit distance from `name`, or "" if none is
/// close: within two edits or a third of the letters, and fewer edits than letters.
std::string nearest_name(std::string_view name, std::span<const std::string> candidates);

/// Joins as in "a, b, c".
std::string join(std::span<const std::string> parts, std::string_view separator = ", ");

/// Parses the whole text as a number, if it is one.
std::optional<double> number_in(std::string_view text);

/// Formats 61706 as "61,706".
std::string with_commas(std::uint64_t value);

/// Formats 1536 as "1.5 KiB".
std::string human_bytes(std::uint64_t bytes);

/// Formats 75.2 as "1:15", 3675 as "1:01:15".
std::string human_duration(double seconds);

}  // namespace convoy
