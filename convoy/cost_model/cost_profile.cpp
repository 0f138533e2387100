// SPDX-License-Identifier: Apache-2.0

#include "convoy/cost_model/cost_profile.h"

#include <algorithm>

#include "convoy/base/error.h"

namespace convoy {
namespace {

double packs(std::size_t samples, std::size_t pack) {
  const std::size_t count = (samples + pack - 1) / pack;
  return static_cast<double>(count);
}

double between(double left, double right, double part) {
  return std::max(0.0, left + (right - left) * part);
}

}  // namespace

std::uint64_t CostProfile::bytes() const {
  std::uint64_t sum = 0;
  for (const UnitBytes& unit : units) sum += unit.bytes;
  return sum;
}

std::vector<UnitSeconds> CostProfile::pass_of(std::size_t samples) const {
  check(!passes.empty(), "a profile has a pass");
  if (passes.size() == 1 || samples <= passes.front().samples) {
    return passes.front().units;
  }
  const auto enough = [&](const PassSeconds& pass) { return pass.samples >= samples; };
  const auto found = std::find_if(passes.begin() + 1, passes.end(), enough);
  const PassSeconds& right = found == passes.end() ? passes.back() : *found;
  const PassSeconds& left = *(found == passes.end() ? found - 2 : found - 1);
  const double from = packs(left.samples, pack), to = packs(right.samples, pack);
  const double part = to > from ? (packs(samples, pack) - from) / (to - from) : 1;
  std::vector<UnitSeconds> seconds;
  for (std::size_t u = 0; u < units.size(); ++u) {
    seconds.push_back({between(left.units[u].forward, right.units[u].forward, part),
                       between(left.units[u].backward, right.units[u].backward, part)});
  }
  return seconds;
}

}  // namespace convoy
