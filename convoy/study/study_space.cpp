// SPDX-License-Identifier: Apache-2.0

#include "convoy/study/study_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "convoy/base/error.h"
#include "convoy/base/random.h"
#include "convoy/base/text.h"

namespace convoy {
namespace {

using Dimensions = std::vector<StudyDimension>;

constexpr std::size_t kUncountable = std::numeric_limits<std::size_t>::max();

/// The product, or kUncountable.
std::size_t times(std::size_t a, std::size_t b) {
  return b != 0 && a > kUncountable / b ? kUncountable : a * b;
}

/// Values of a dimension that are combined with all others.
std::size_t crossed_values(const StudyDimension& dimension, const DrawOptions& options) {
  const bool drawn = options.trials > 0 && !is_repeated(dimension.name);
  return drawn ? 1 : dimension.values.size();
}

void refuse_too_many(const Dimensions& dimensions, const DrawOptions& options) {
  std::size_t count = std::max<std::size_t>(1, options.trials);
  std::vector<std::string> factors;
  for (const StudyDimension& one : dimensions) {
    const std::size_t values = crossed_values(one, options);
    count = times(count, values);
    if (values > 1) factors.push_back(fmt::format("{} of {}", values, one.name));
  }
  if (count <= options.most) return;
  const std::string counted =
      count == kUncountable ? "more than 10^19" : with_commas(count);
  throw InputError(
      InputKind::settings,
      {.where = "the grid",
       .found = fmt::format("{} combinations: {}", counted, join(factors, " x ")),
       .expected = fmt::format("at most {}", with_commas(options.most)),
       .hint = "--trials N draws some of them; --limit N allows more"});
}

void refuse_intervals(const Dimensions& dimensions) {
  for (const StudyDimension& one : dimensions) {
    if (!one.interval) continue;
    throw InputError(InputKind::settings, {.where = one.name,
                                           .found = "an interval in a grid",
                                           .expected = "values, or a random study",
                                           .hint = "--trials N draws N combinations"});
  }
}

/// The number of an interval at a fraction of it, in the digits that a run gets.
std::string number_at(const Interval& interval, double fraction) {
  const double low = interval.low, high = interval.high + (interval.whole ? 1 : 0);
  const double at =
      interval.log ? low * std::pow(high / low, fraction) : low + (high - low) * fraction;
  if (!interval.whole) return fmt::format("{:.6g}", at);
  return fmt::format("{}", std::min(std::floor(at), std::floor(interval.high)));
}

std::string draw(const StudyDimension& dimension, double fraction) {
  if (dimension.interval) return number_at(*dimension.interval, fraction);
  const auto count = dimension.values.size();
  const auto place = static_cast<std::size_t>(fraction * static_cast<double>(count));
  return dimension.values[std::min(place, count - 1)];
}

/// The combination of that number among all.
Combination combination_at(std::size_t number, const Dimensions& dimensions,
                           const DrawOptions& options) {
  Combination combination(dimensions.size());
  for (std::size_t d = dimensions.size(); d-- > 0;) {
    const StudyDimension& dimension = dimensions[d];
    const bool drawn = options.trials > 0 && !is_repeated(dimension.name);
    if (drawn) continue;
    combination[d] = dimension.values[number % dimension.values.size()];
    number /= dimension.values.size();
  }
  if (options.trials == 0) return combination;
  // What is left of the number is the trial's. No run shares this process's numbers.
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    if (is_repeated(dimensions[d].name)) continue;
    const RandomStream random(options.seed, RngStream::order,
                              static_cast<std::uint32_t>(number),
                              static_cast<std::uint32_t>(d));
    combination[d] = draw(dimensions[d], random.fraction(0));
  }
  return combination;
}

}  // namespace

bool is_repeated(std::string_view dimension) {
  return dimension == "train.seed" || dimension == "data.fold";
}

std::vector<Combination> combinations(const std::vector<StudyDimension>& dimensions,
                                      const DrawOptions& options) {
  if (options.trials == 0) refuse_intervals(dimensions);
  refuse_too_many(dimensions, options);
  std::size_t count = std::max<std::size_t>(1, options.trials);
  for (const StudyDimension& one : dimensions) count *= crossed_values(one, options);
  std::vector<Combination> all;
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back(combination_at(i, dimensions, options));
  }
  return all;
}

}  // namespace convoy
