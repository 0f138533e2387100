// SPDX-License-Identifier: Apache-2.0

#include "convoy/ps/staleness.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace convoy {

void StalenessCounts::add(std::uint64_t staleness) {
  ++count_;
  sum_ += staleness;
  max_ = std::max(max_, staleness);
  ++bins_[bin_of(staleness)];
}

double StalenessCounts::mean() const {
  if (count_ == 0) return 0;
  return static_cast<double>(sum_) / static_cast<double>(count_);
}

std::vector<StalenessBin> StalenessCounts::bins() const {
  std::vector<StalenessBin> found;
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    if (bins_[bin] > 0) found.push_back({first_of(bin), last_of(bin), bins_[bin]});
  }
  return found;
}

std::size_t StalenessCounts::bin_of(std::uint64_t staleness) {
  if (staleness < kExact) return static_cast<std::size_t>(staleness);
  const auto power = static_cast<std::size_t>(std::bit_width(staleness)) - 1;
  return kExact + power - kExactBits;
}

std::uint64_t StalenessCounts::first_of(std::size_t bin) {
  return bin < kExact ? bin : std::uint64_t{1} << (bin - kExact + kExactBits);
}

std::uint64_t StalenessCounts::last_of(std::size_t bin) {
  if (bin + 1 == kBins) return std::numeric_limits<std::uint64_t>::max();
  return first_of(bin + 1) - 1;
}

void StalenessRecord::add(int worker, std::uint64_t staleness) {
  all_.add(staleness);
  window_.add(staleness);
  by_worker_.at(static_cast<std::size_t>(worker)).add(staleness);
}

}  // namespace convoy
