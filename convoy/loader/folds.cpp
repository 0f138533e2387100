// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/folds.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/base/random.h"
#include "convoy/base/text.h"

namespace convoy {
namespace {

using Numbered = std::vector<std::uint32_t>;

constexpr std::uint32_t kFolds = 2;  // split_anew() has label 1 of the same purpose

void check_folds(std::size_t folds, std::size_t samples) {
  if (folds <= samples) return;
  throw InputError(
      InputKind::settings,
      {.where = "data.folds",
       .found = fmt::format("{} folds of {} samples", folds, with_commas(samples)),
       .expected = "at least one sample in each fold",
       .hint = fmt::format("at most {} folds", with_commas(samples))});
}

/// Neighbours in this order are dealt to folds in turn, unless folds are neighbours
/// themselves.
Numbered order_of_dealing(const Dataset& data, std::span<const std::uint32_t> samples,
                          const FoldOptions& options) {
  Numbered order(samples.begin(), samples.end());
  if (options.by == FoldBy::shuffled) {
    order = permutation(static_cast<std::uint32_t>(samples.size()),
                        RandomStream(options.seed, RngStream::split, kFolds));
    for (std::uint32_t& place : order) place = samples[place];
  }
  if (options.by == FoldBy::stratified) {
    std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return data.labels[i]; });
  }
  return order;
}

/// The fold of the sample at `place` of `count`.
std::size_t fold_at(std::size_t place, std::size_t count, const FoldOptions& options) {
  const auto folds = static_cast<std::size_t>(options.folds);
  if (options.by != FoldBy::order) return place % folds;
  // The first `count % folds` folds have one sample more than the others.
  const std::size_t small = count / folds, large = count % folds;
  const std::size_t in_large = large * (small + 1);
  return place < in_large ? place / (small + 1) : large + (place - in_large) / small;
}

}  // namespace

Split split_by_fold(const Dataset& data, std::span<const std::uint32_t> samples,
                    const FoldOptions& options) {
  check(options.folds >= 2 && options.fold >= 0 && options.fold < options.folds,
        "the fold is one of several");
  check_folds(static_cast<std::size_t>(options.folds), samples.size());
  const Numbered order = order_of_dealing(data, samples, options);
  Split split;
  for (std::size_t place = 0; place < order.size(); ++place) {
    const bool validates =
        fold_at(place, order.size(), options) == static_cast<std::size_t>(options.fold);
    (validates ? split.validation : split.train).push_back(order[place]);
  }
  std::ranges::sort(split.train);
  std::ranges::sort(split.validation);
  return split;
}

}  // namespace convoy
