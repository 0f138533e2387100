// SPDX-License-Identifier: Apache-2.0

#include "convoy/params/shard_plan.h"

#include <algorithm>

#include "convoy/base/error.h"

namespace convoy {
namespace {

std::size_t nearest_multiple(std::size_t value, std::size_t multiple) {
  return (value + multiple / 2) / multiple * multiple;
}

}  // namespace

ShardPlan::ShardPlan(const Layout& layout, int ranks, std::size_t granule)
    : ranks_(ranks),
      granule_(granule),
      owners_((layout.size() + granule - 1) / granule, 0) {
  check(ranks >= 1 && granule >= 1, "a unit is cut for at least one rank");
  int first = 0;
  for (std::size_t unit = 0; unit < layout.unit_count(); ++unit) {
    const Range range = layout.unit(UnitId{unit});
    cut(range, first);
    if (range.size() == 0) continue;
    const int last = owners_[(range.end - 1) / granule];
    first = range.end % granule == 0 ? (last + 1) % ranks : last;
  }
}

/// The rank `first` gets the first part.
void ShardPlan::cut(Range unit, int first) {
  const auto ranks = static_cast<std::size_t>(ranks_);
  const std::size_t at = parts_.size();
  parts_.resize(at + ranks);
  const std::size_t least = std::min(round_up(unit.begin, granule_), unit.end);
  std::size_t begin = unit.begin;
  for (std::size_t i = 0; i < ranks; ++i) {
    const std::size_t even = unit.begin + unit.size() * (i + 1) / ranks;
    const std::size_t end =
        i + 1 == ranks ? unit.end
                       : std::clamp(nearest_multiple(even, granule_), least, unit.end);
    const std::size_t rank = (static_cast<std::size_t>(first) + i) % ranks;
    parts_[at + rank] = {begin, end};
    for (std::size_t g = begin / granule_; g * granule_ < end; ++g) {
      if (begin < end) owners_[g] = static_cast<int>(rank);
    }
    begin = end;
  }
}

std::span<const Range> ShardPlan::parts(UnitId unit) const {
  const auto ranks = static_cast<std::size_t>(ranks_);
  return std::span(parts_).subspan(static_cast<std::size_t>(unit) * ranks, ranks);
}

std::vector<Range> ShardPlan::ranges_of(int rank) const {
  std::vector<Range> ranges;
  for (std::size_t unit = 0; unit < unit_count(); ++unit) {
    const Range own = part(UnitId{unit}, rank);
    if (own.size() == 0) continue;
    const bool touches = !ranges.empty() && ranges.back().end == own.begin;
    if (touches) {
      ranges.back().end = own.end;
    } else {
      ranges.push_back(own);
    }
  }
  return ranges;
}

std::size_t ShardPlan::size_of(int rank) const {
  std::size_t size = 0;
  for (const Range& range : ranges_of(rank)) size += range.size();
  return size;
}

}  // namespace convoy
