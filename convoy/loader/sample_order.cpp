// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/sample_order.h"

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

constexpr std::size_t kWhole = std::numeric_limits<std::size_t>::max();

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
          "a fraction that is at least one" + of);
  require(used > 0, "data.train_fraction", train,
          "a fraction that is at least one" + of + " after validation took its own");

  const auto shuffled = permutation(static_cast<std::uint32_t>(count),
                                    RandomStream(options.seed, RngStream::split));
  const std::span all(shuffled);
  return {.train = ascending(all.subspan(held_out, used)),
          .validation = ascending(all.first(held_out))};
}

std::vector<std::uint32_t> epoch_order(std::span<const std::uint32_t> samples,
                                       std::uint64_t seed, int epoch,
                                       std::uint32_t worker) {
  const RandomStream stream(seed, RngStream::order, static_cast<std::uint32_t>(epoch),
                            worker);
  auto order = permutation(static_cast<std::uint32_t>(samples.size()), stream);
  for (std::uint32_t& place : order) place = samples[place];
  return order;
}

SampleOrder::SampleOrder(std::vector<std::uint32_t> samples, std::uint64_t seed,
                         bool shuffle, std::uint32_t worker)
    : SampleOrder(Parts(std::move(samples)), kWhole, seed, shuffle, worker) {}

SampleOrder::SampleOrder(Parts parts, std::size_t slice, std::uint64_t seed, bool shuffle)
    : SampleOrder(std::move(parts), slice, seed, shuffle, 0) {}

SampleOrder::SampleOrder(Parts parts, std::size_t slice, std::uint64_t seed, bool shuffle,
                         std::uint32_t worker)
    : parts_(std::move(parts)),
      order_(parts_.samples()),
      slice_(slice),
      seed_(seed),
      shuffle_(shuffle),
      worker_(worker) {
  check(parts_.longest() <= std::numeric_limits<std::uint32_t>::max(),
        "samples have 32-bit numbers");
  check(parts_.shortest() == parts_.longest() && slice > 0,
        "interleaved parts have equal length");
  for (std::size_t part = 0; part < parts_.count(); ++part) place(part, parts_[part]);
}

void SampleOrder::start_epoch(int epoch) {
  if (!shuffle_) return;
  for (std::size_t part = 0; part < parts_.count(); ++part) {
    const auto worker = worker_ + static_cast<std::uint32_t>(part);
    place(part, epoch_order(parts_[part], seed_, epoch, worker));
  }
}

/// Writes the samples of a part, in this order, to its slices.
void SampleOrder::place(std::size_t part, std::span<const std::uint32_t> samples) {
  const std::size_t parts = parts_.count();
  for (std::size_t begin = 0; begin < samples.size(); begin += slice_) {
    const std::size_t count = std::min(slice_, samples.size() - begin);
    std::ranges::copy(
        samples.subspan(begin, count),
        order_.begin() + static_cast<std::ptrdiff_t>(begin * parts + part * count));
  }
}

std::span<const std::uint32_t> SampleOrder::at(Range positions) const {
  check(positions.begin <= positions.end && positions.end <= order_.size(),
        "positions are within the epoch");
  return std::span(order_).subspan(positions.begin, positions.size());
}

}  // namespace convoy
