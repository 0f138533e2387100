// SPDX-License-Identifier: Apache-2.0

#include "convoy/events/histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace convoy {
namespace {

constexpr double kFirstLimit = 1e-12, kLastLimit = 1e20, kGrowth = 1.1;

std::vector<double> make_limits() {
  std::vector<double> positive;
  for (double limit = kFirstLimit; limit < kLastLimit; limit *= kGrowth) {
    positive.push_back(limit);
  }
  positive.push_back(std::numeric_limits<double>::max());
  std::vector<double> limits(positive.rbegin(), positive.rend());
  for (double& limit : limits) limit = -limit;
  limits.push_back(0);
  limits.insert(limits.end(), positive.begin(), positive.end());
  return limits;
}

const std::vector<double>& all_limits() {
  static const std::vector<double> limits = make_limits();
  return limits;
}

std::size_t bucket_of(double number) {
  const std::vector<double>& limits = all_limits();
  return static_cast<std::size_t>(std::ranges::upper_bound(limits, number) -
                                  limits.begin());
}

void add(double number, Histogram& histogram) {
  histogram.least = histogram.count == 0 ? number : std::min(histogram.least, number);
  histogram.most = histogram.count == 0 ? number : std::max(histogram.most, number);
  histogram.sum += number;
  histogram.sum_of_squares += number * number;
  ++histogram.count;
}

std::vector<HistogramBucket> condensed(const std::vector<std::size_t>& counts) {
  std::vector<HistogramBucket> buckets;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const bool empty_before = !buckets.empty() && buckets.back().count == 0;
    if (counts[i] == 0 && empty_before) {
      buckets.back().limit = all_limits()[i];
    } else {
      buckets.push_back({all_limits()[i], counts[i]});
    }
  }
  while (!buckets.empty() && buckets.back().count == 0) buckets.pop_back();
  return buckets;
}

}  // namespace

Histogram make_histogram(std::span<const float> numbers) {
  Histogram histogram;
  std::vector<std::size_t> counts(all_limits().size());
  for (const float number : numbers) {
    if (!std::isfinite(number)) continue;
    add(number, histogram);
    ++counts[bucket_of(number)];
  }
  histogram.buckets = condensed(counts);
  return histogram;
}

}  // namespace convoy
