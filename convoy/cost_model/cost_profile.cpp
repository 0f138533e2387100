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

std::uint64_t gradient_bytes(const CostProfile& profile) {
  std::uint64_t sum = 0;
  for (const UnitBytes& unit : profile.units) sum += unit.bytes;
  return sum;
}

std::vector<UnitSeconds> pass_of(const CostProfile& profile, std::size_t samples) {
  const std::vector<PassSeconds>& passes = profile.passes;
  check(!passes.empty(), "a profile has a pass");
  if (passes.size() == 1 || samples <= passes.front().samples) {
    return passes.front().units;
  }
  const auto enough = [&](const PassSeconds& pass) { return pass.samples >= samples; };
  const auto found = std::find_if(passes.begin() + 1, passes.end(), enough);
  const PassSeconds& right = found == passes.end() ? passes.back() : *found;
  const PassSeconds& left = *(found == passes.end() ? found - 2 : found - 1);
  const double from = packs(left.samples, profile.pack);
  const double to = packs(right.samples, profile.pack);
  const double part = to > from ? (packs(samples, profile.pack) - from) / (to - from) : 1;
  std::vector<UnitSeconds> seconds;
  for (std::size_t u = 0; u < profile.units.size(); ++u) {
    seconds.push_back({between(left.units[u].forward, right.units[u].forward, part),
                       between(left.units[u].backward, right.units[u].backward, part)});
  }
  return seconds;
}

}  // namespace convoy
