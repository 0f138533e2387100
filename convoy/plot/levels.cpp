// SPDX-License-Identifier: Apache-2.0

#include "convoy/plot/levels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace convoy {
namespace {

/// 1, 2 or 5 times a power of ten, near `step`.
double nice_step(double step) {
  const double power = std::pow(10, std::floor(std::log10(step)));
  const double digit = step / power;
  return power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
}

double two_digits(double value) {
  const double power = std::pow(10, std::floor(std::log10(value)) - 1);
  return std::round(value / power) * power;
}

std::vector<double> even_levels(const ValueRange& range, int count) {
  const double step = nice_step((range.high - range.low) / (count + 1));
  std::vector<double> levels;
  for (double n = std::ceil(range.low / step); n * step < range.high; ++n) {
    levels.push_back(n * step);
  }
  return levels;
}

std::vector<double> geometric_levels(const ValueRange& range, int count) {
  std::vector<double> levels;
  for (int i = 1; i <= count; ++i) {
    const double part = static_cast<double>(i) / (count + 1);
    levels.push_back(two_digits(range.low * std::pow(range.high / range.low, part)));
  }
  return levels;
}

/// These digits times powers of ten.
std::vector<double> round_numbers(const ValueRange& range,
                                  const std::vector<double>& digits) {
  std::vector<double> numbers;
  const auto last = static_cast<int>(std::ceil(std::log10(range.high)));
  for (auto power = static_cast<int>(std::floor(std::log10(range.low))); power <= last;
       ++power) {
    for (const double digit : digits) {
      const double number = digit * std::pow(10, power);
      if (range.low <= number && number <= range.high) numbers.push_back(number);
    }
  }
  return numbers;
}

}  // namespace

ValueRange value_range(std::span<const double> values, bool positive) {
  ValueRange range;
  bool any = false;
  for (const double value : values) {
    if (!std::isfinite(value) || (positive && value <= 0)) continue;
    range = any ? ValueRange{std::min(range.low, value), std::max(range.high, value)}
                : ValueRange{value, value};
    any = true;
  }
  return range;
}

std::vector<double> nice_levels(const ValueRange& range, int count, bool logarithmic) {
  if (range.is_point() || count < 1 || !std::isfinite(range.high - range.low)) return {};
  std::vector<double> levels =
      logarithmic ? geometric_levels(range, count) : even_levels(range, count);
  std::ranges::sort(levels);
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  std::erase_if(levels, [&](double v) { return v <= range.low || v >= range.high; });
  return levels;
}

std::vector<double> logarithmic_ticks(const ValueRange& range, std::size_t most) {
  std::vector<double> ticks = round_numbers(range, {1, 2, 5});
  if (ticks.size() > most) ticks = round_numbers(range, {1});
  if (ticks.size() < 2) return nice_levels(range, 4, false);
  return every_nth(ticks, ticks.size() / (most + 1) + 1);
}

std::vector<double> every_nth(const std::vector<double>& values, std::size_t n) {
  std::vector<double> few;
  for (std::size_t i = 0; i < values.size(); i += n) few.push_back(values[i]);
  return few;
}

std::string short_number(double value) { return fmt::format("{:.4g}", value); }

}  // namespace convoy
