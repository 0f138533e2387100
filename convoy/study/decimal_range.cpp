// SPDX-License-Identifier: Apache-2.0

#include "convoy/study/decimal_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "convoy/base/error.h"
#include "convoy/base/text.h"

namespace convoy {
namespace {

constexpr std::size_t kMostDigits = 15;
constexpr std::int64_t kMostUnits = 1'000'000'000'000'000;

/// units / 10^places.
struct Decimal {
  std::int64_t units = 0;
  int places = 0;
};

/// Reads 12, -0.5 or 1e-3; nothing if it is another text or has too many digits.
std::optional<Decimal> read_decimal(std::string_view text) {
  if (!number_in(text)) return std::nullopt;
  const std::size_t e = std::min(text.find_first_of("eE"), text.size());
  std::string digits(text.substr(0, e));
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const auto after = static_cast<int>(digits.size() - point);
  if (point < digits.size()) digits.erase(point, 1);
  if (digits.size() > kMostDigits + 1) return std::nullopt;
  const int exponent =
      e < text.size() ? std::atoi(std::string(text.substr(e + 1)).c_str()) : 0;
  Decimal number{std::atoll(digits.c_str()), std::max(0, after - 1) - exponent};
  if (std::abs(number.places) > static_cast<int>(kMostDigits)) return std::nullopt;
  return number;
}

/// The number in units of 10^-places; nothing if it becomes too large.
std::optional<std::int64_t> in_units(const Decimal& number, int places) {
  std::int64_t units = number.units;
  for (int i = number.places; i < places; ++i) {
    if (std::abs(units) > kMostUnits) return std::nullopt;
    units *= 10;
  }
  return units;
}

std::string to_text(std::int64_t units, int places) {
  std::string digits = std::to_string(std::abs(units));
  const auto point = static_cast<std::size_t>(places);
  if (digits.size() <= point) digits.insert(0, point + 1 - digits.size(), '0');
  digits.insert(digits.size() - point, ".");
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.ends_with('.')) digits.pop_back();
  return (units < 0 ? "-" : "") + digits;
}

std::size_t count_of(std::int64_t start, std::int64_t stop, std::int64_t step) {
  const std::int64_t length = step > 0 ? stop - start : start - stop;
  if (length <= 0) return 0;
  const std::int64_t size = std::abs(step);
  return static_cast<std::size_t>((length + size - 1) / size);
}

InputError range_error(const std::string& where, const std::string& found) {
  return {InputKind::settings,
          {.where = where,
           .found = found,
           .expected = "range(stop), range(start, stop) or range(start, stop, step) of "
                       "numbers with up to 15 digits, and a step other than 0",
           .hint = "the stop is left out: range(1,4) is 1, 2, 3"}};
}

/// Start, stop and step in common units.
struct UnitRange {
  std::int64_t start = 0, stop = 0, step = 1;
  int places = 0;
};

std::optional<UnitRange> read_range(std::span<const std::string> arguments) {
  std::vector<Decimal> numbers{{0, 0}, {0, 0}, {1, 0}};
  if (arguments.empty() || arguments.size() > 3) return std::nullopt;
  UnitRange range;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::optional<Decimal> number = read_decimal(arguments[i]);
    if (!number) return std::nullopt;
    numbers[arguments.size() == 1 ? 1 : i] = *number;
    range.places = std::max(range.places, number->places);
  }
  std::int64_t* const places[] = {&range.start, &range.stop, &range.step};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::optional<std::int64_t> units = in_units(numbers[i], range.places);
    if (!units) return std::nullopt;
    *places[i] = *units;
  }
  if (range.step == 0) return std::nullopt;
  return range;
}

}  // namespace

std::vector<std::string> decimal_range(std::span<const std::string> arguments,
                                       const std::string& where, std::size_t most) {
  const std::string written = fmt::format("range({})", join(arguments, ","));
  const std::optional<UnitRange> range = read_range(arguments);
  if (!range) throw range_error(where, written);
  const std::size_t count = count_of(range->start, range->stop, range->step);
  if (count > most) {
    throw InputError(InputKind::settings,
                     {.where = where,
                      .found = fmt::format("{}: {} values", written, with_commas(count)),
                      .expected = fmt::format("at most {} runs", with_commas(most)),
                      .hint = "--limit allows more"});
  }
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < count; ++i) {
    texts.push_back(to_text(range->start + static_cast<std::int64_t>(i) * range->step,
                            range->places));
  }
  return texts;
}

}  // namespace convoy
