// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/order.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/base/random.h"

namespace convoy {
namespace {

void require(bool holds, const std::string& setting, double found,
             const std::string& expected) {
  if (holds) return;
  throw InputError(InputKind::settings, {.where = setting,
                                         .found = fmt::format("{}", found),
                                         .expected = expected,
                                         .hint = ""});
}

std::size_t part(std::size_t count, double fraction) {
  return static_cast<std::size_t>(std::llround(static_cast<double>(count) * fraction));
}

std::vector<std::uint32_t> ascending(std::span<const std::uint32_t> samples) {
  std::vector<std::uint32_t> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted);
  return sorted;
}

}  // namespace

Split split_samples(std::size_t count, const SplitOptions& options) {
  check(count <= std::numeric_limits<std::uint32_t>::max(),
        "samples have 32-bit numbers");
  const double train = options.train_fraction, validation = options.val_fraction;
  require(train > 0 && train <= 1, "data.train_fraction", train,
          "a number above 0 and at most 1");
  require(validation >= 0 && validation < 1, "data.val_fraction", validation,
          "a number from 0, below 1");
  const std::size_t held_out = part(count, validation);
  const std::size_t used = part(count - held_out, train);
  const std::string of = fmt::format(" of {} samples", count);
  require(validation == 0 || held_out > 0, "data.val_fraction", validation,
          "a part that is at least one" + of);
  require(used > 0, "data.train_fraction", train,
          "a part that is at least one" + of + " after validation took its own");

  const auto shuffled = permutation(static_cast<std::uint32_t>(count),
                                    RandomStream(options.seed, Purpose::split));
  const std::span all(shuffled);
  return {.train = ascending(all.subspan(held_out, used)),
          .validation = ascending(all.first(held_out))};
}

Order::Order(std::vector<std::uint32_t> samples, std::uint64_t seed, bool shuffle)
    : samples_(std::move(samples)), order_(samples_), seed_(seed), shuffle_(shuffle) {
  check(samples_.size() <= std::numeric_limits<std::uint32_t>::max(),
        "samples have 32-bit numbers");
}

void Order::start_epoch(int epoch) {
  if (!shuffle_) return;
  const RandomStream stream(seed_, Purpose::order, static_cast<std::uint32_t>(epoch));
  const auto places = permutation(static_cast<std::uint32_t>(samples_.size()), stream);
  std::ranges::transform(places, order_.begin(),
                         [&](std::uint32_t place) { return samples_[place]; });
}

std::span<const std::uint32_t> Order::at(Range positions) const {
  check(positions.begin <= positions.end && positions.end <= order_.size(),
        "positions lie within the epoch");
  return std::span(order_).subspan(positions.begin, positions.size());
}

}  // namespace convoy
