// SPDX-License-Identifier: Apache-2.0
//
// Small helpers for what people read: the nearest name, sizes, counts, durations.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace convoy {

/// The candidate with the fewest edits from `name`, or "" if none is near enough to be
/// what was meant: within two edits or a third of the letters, and not all of them.
std::string nearest_name(std::string_view name, std::span<const std::string> candidates);

/// "a, b, c".
std::string join(std::span<const std::string> parts, std::string_view separator = ", ");

/// The number that the whole text is, if it is one.
std::optional<double> number_in(std::string_view text);

/// 61706 as "61,706".
std::string with_commas(std::uint64_t value);

/// 1536 as "1.5 KiB".
std::string human_bytes(std::uint64_t bytes);

/// 75.2 as "1:15", 3675 as "1:01:15".
std::string human_duration(double seconds);

}  // namespace convoy
