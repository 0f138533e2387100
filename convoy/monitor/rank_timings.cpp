// SPDX-License-Identifier: Apache-2.0

#include "convoy/monitor/rank_timings.h"

#include <fmt/format.h>

#include <algorithm>

namespace convoy {
namespace {

constexpr double kShare = 1.1;  // a straggler takes this factor of the others' time
constexpr double kMilliseconds = 0.1;  // and at least this much more
constexpr double kArrivesLate =
    0.25;  // the others wait at least this part of the difference

using Measure = double (*)(const RankTiming&);

double own(const RankTiming& pace) { return pace.own; }
double data(const RankTiming& pace) { return pace.data; }
double exposed(const RankTiming& pace) { return pace.exposed; }
double before_exchange(const RankTiming& pace) { return pace.before_exchange(); }

/// The median over all ranks but one. Requires: two ranks.
double elsewhere(std::span<const RankTiming> ranks, std::size_t but, Measure measure) {
  std::vector<double> values;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (rank != but) values.push_back(measure(ranks[rank]));
  }
  std::ranges::sort(values);
  return values[(values.size() - 1) / 2];
}

}  // namespace

void RankTimings::Times::add(const StepReport& report) {
  own.add(report.own_seconds);
  data.add(report.data_seconds);
  exposed.add(report.exposed_seconds);
  bytes_sent += report.bytes_sent;
}

void RankTimings::Times::clear() {
  for (StepTimes* times : {&own, &data, &exposed}) times->clear();
  bytes_sent = 0;
}

RankTiming RankTimings::Times::medians() const {
  return {own.quantiles().p50, data.quantiles().p50, exposed.quantiles().p50, bytes_sent};
}

RankTimings::RankTimings(std::size_t ranks) : whole_(ranks), window_(ranks) {}

void RankTimings::add(std::span<const StepReport> reports, std::size_t first) {
  for (std::size_t i = 0; i < reports.size(); ++i) {
    whole_[first + i].add(reports[i]);
    window_[first + i].add(reports[i]);
  }
}

std::vector<RankTiming> RankTimings::window() const {
  std::vector<RankTiming> paces;
  for (const Times& times : window_) paces.push_back(times.medians());
  return paces;
}

void RankTimings::start_window() {
  for (Times& times : window_) times.clear();
}

std::vector<RankTiming> RankTimings::whole() const {
  std::vector<RankTiming> paces;
  for (const Times& times : whole_) paces.push_back(times.medians());
  return paces;
}

std::optional<Straggler> find_straggler(std::span<const RankTiming> ranks) {
  if (ranks.size() < 2) return std::nullopt;
  const auto slowest = std::ranges::max_element(ranks, {}, before_exchange);
  const auto rank = static_cast<std::size_t>(slowest - ranks.begin());
  const double others = elsewhere(ranks, rank, before_exchange);
  const double excess = slowest->before_exchange() - others;
  const double others_wait = elsewhere(ranks, rank, exposed) - slowest->exposed;
  const bool stands_out = excess >= (kShare - 1) * others && excess >= kMilliseconds;
  if (!stands_out || others_wait < excess * kArrivesLate) return std::nullopt;
  const bool by_data = slowest->data - elsewhere(ranks, rank, data) > excess / 2;
  const Measure blamed = by_data ? data : own;
  return Straggler{.rank = rank,
                   .by_data = by_data,
                   .own = blamed(*slowest),
                   .elsewhere = elsewhere(ranks, rank, blamed),
                   .others_wait = others_wait};
}

std::string short_milliseconds(double value) {
  return value < 10 ? fmt::format("{:.2g} ms", value) : fmt::format("{:.0f} ms", value);
}

std::string describe(const Straggler& straggler) {
  return fmt::format(
      "slowest: rank {}, {} {} per step, {} on other ranks, the others wait "
      "{} for it",
      straggler.rank, straggler.by_data ? "waiting for data" : "own compute",
      short_milliseconds(straggler.own), short_milliseconds(straggler.elsewhere),
      short_milliseconds(straggler.others_wait));
}

}  // namespace convoy
