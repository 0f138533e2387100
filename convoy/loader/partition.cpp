// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/base/random.h"
#include "convoy/base/text.h"

namespace convoy {
namespace {

using Samples = std::vector<std::uint32_t>;

// The random streams of a partition.
constexpr std::uint32_t kOfSamples = 0, kOfLabels = 1, kOfCut = 2;

[[noreturn]] void refuse(const std::string& found, const std::string& expected,
                         const std::string& hint) {
  throw InputError(
      InputKind::settings,
      {.where = "data.partition", .found = found, .expected = expected, .hint = hint});
}

/// Returns `count` random samples, ascending.
Samples some_of(std::span<const std::uint32_t> samples, std::size_t count,
                const RandomStream& stream) {
  Samples chosen = permutation(static_cast<std::uint32_t>(samples.size()), stream);
  chosen.resize(count);
  std::ranges::sort(chosen);
  for (std::uint32_t& place : chosen) place = samples[place];
  return chosen;
}

Parts joined(const std::vector<Samples>& parts) {
  Samples samples;
  std::vector<Range> ranges;
  for (const Samples& part : parts) {
    ranges.push_back({samples.size(), samples.size() + part.size()});
    samples.insert(samples.end(), part.begin(), part.end());
  }
  return {std::move(samples), std::move(ranges)};
}

Parts all_of_it(std::span<const std::uint32_t> samples, std::size_t parts) {
  return {Samples(samples.begin(), samples.end()),
          std::vector<Range>(parts, {0, samples.size()})};
}

Parts random_parts(std::span<const std::uint32_t> samples,
                   const PartitionOptions& options) {
  if (options.parts > samples.size()) {
    refuse(fmt::format("{} parts of {} samples", options.parts, samples.size()),
           "at least one sample per part", "use fewer workers or more data");
  }
  const RandomStream stream(options.seed, RngStream::partition, kOfSamples);
  Samples shuffled = permutation(static_cast<std::uint32_t>(samples.size()), stream);
  std::vector<Range> ranges;
  for (std::size_t part = 0; part < options.parts; ++part) {
    ranges.push_back(even_part(samples.size(), options.parts, part));
    const auto begin = shuffled.begin() + static_cast<std::ptrdiff_t>(ranges[part].begin);
    std::sort(begin, begin + static_cast<std::ptrdiff_t>(ranges[part].size()));
  }
  for (std::uint32_t& place : shuffled) place = samples[place];
  return {std::move(shuffled), std::move(ranges)};
}

/// Returns the labels that occur, ascending.
Samples labels_among(const Dataset& data, std::span<const std::uint32_t> samples) {
  std::vector<bool> occurs(data.classes.size());
  for (const std::uint32_t sample : samples) occurs[data.labels[sample]] = true;
  Samples labels;
  for (std::uint32_t label = 0; label < occurs.size(); ++label) {
    if (occurs[label]) labels.push_back(label);
  }
  return labels;
}

/// Returns, by label, the part that gets it.
std::vector<std::size_t> deal_labels(const Dataset& data,
                                     std::span<const std::uint32_t> samples,
                                     const PartitionOptions& options) {
  const Samples labels = labels_among(data, samples);
  if (options.parts > labels.size()) {
    refuse(fmt::format("labels in {} parts", options.parts),
           fmt::format("at most {} parts, the number of labels of the training samples",
                       labels.size()),
           "data.partition=iid, or fewer workers or micro-batches");
  }
  const Samples dealt =
      permutation(static_cast<std::uint32_t>(labels.size()),
                  RandomStream(options.seed, RngStream::partition, kOfLabels));
  std::vector<std::size_t> part_of(data.classes.size());
  for (std::size_t turn = 0; turn < dealt.size(); ++turn) {
    part_of[labels[dealt[turn]]] = turn % options.parts;
  }
  return part_of;
}

std::vector<Samples> parts_by_label(const Dataset& data,
                                    std::span<const std::uint32_t> samples,
                                    const PartitionOptions& options) {
  const std::vector<std::size_t> part_of = deal_labels(data, samples, options);
  std::vector<Samples> parts(options.parts);
  for (const std::uint32_t sample : samples) {
    parts[part_of[data.labels[sample]]].push_back(sample);
  }
  return parts;
}

void cut_to_shortest(std::vector<Samples>& parts, std::uint64_t seed) {
  const std::size_t shortest = std::ranges::min(parts, {}, &Samples::size).size();
  for (std::uint32_t part = 0; part < parts.size(); ++part) {
    if (parts[part].size() == shortest) continue;
    parts[part] = some_of(parts[part], shortest,
                          RandomStream(seed, RngStream::partition, kOfCut, part));
  }
}

}  // namespace

Parts partition_samples(const Dataset& data, std::span<const std::uint32_t> samples,
                        const PartitionOptions& options) {
  check(options.parts > 0, "there is at least one part");
  if (options.kind == Partition::shared) return all_of_it(samples, options.parts);
  if (options.kind == Partition::iid) return random_parts(samples, options);
  std::vector<Samples> parts = parts_by_label(data, samples, options);
  if (options.kind == Partition::labels) cut_to_shortest(parts, options.seed);
  return joined(parts);
}

std::vector<std::uint64_t> label_counts(const Dataset& data, const Parts& parts) {
  const std::size_t labels = data.classes.size();
  std::vector<std::uint64_t> counts(parts.count() * labels);
  for (std::size_t part = 0; part < parts.count(); ++part) {
    for (const std::uint32_t sample : parts[part]) {
      ++counts[part * labels + data.labels[sample]];
    }
  }
  return counts;
}

void check_partition_for_microbatches(Partition kind, std::size_t batch_size,
                                      std::size_t microbatches) {
  if (kind == Partition::iid) return;
  if (kind == Partition::labels_unscaled) {
    refuse("labels_unscaled", "parts of equal length, where an update waits for all",
           "data.partition=labels, or strategy=ps_async");
  }
  if (batch_size % microbatches == 0) return;
  const std::size_t below = batch_size / microbatches * microbatches;
  throw InputError(
      InputKind::settings,
      {.where = "train.batch_size",
       .found = fmt::format("{} samples in {} micro-batches", batch_size, microbatches),
       .expected =
           "a multiple of the micro-batches, since each takes as many from its own part "
           "(data.partition)",
       .hint = fmt::format("train.batch_size={}", std::max(below, microbatches))});
}

}  // namespace convoy
