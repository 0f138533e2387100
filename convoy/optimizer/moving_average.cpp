// SPDX-License-Identifier: Apache-2.0

#include "convoy/optimizer/moving_average.h"

#include <algorithm>

#include "convoy/base/error.h"
#include "convoy/optimizer/param_groups.h"

namespace convoy {
namespace {

void average_chunk(float gain, std::size_t count, const float* __restrict numbers,
                   float* __restrict average) {
  for (std::size_t i = 0; i < count; ++i) {
    average[i] += gain * (numbers[i] - average[i]);
  }
}

}  // namespace

MovingAverage::MovingAverage(const Layout& layout, std::optional<double> decay,
                             ThreadTeam& team)
    : average_(layout), decay_(decay), team_(team) {
  check(!decay || (*decay >= 0 && *decay < 1), "0 <= decay < 1");
}

void MovingAverage::update(std::size_t count, Range range, const FlatBuffer& numbers) {
  check(numbers.size() == average_.size(), "numbers have the layout of the average");
  if (count == 0) {
    std::ranges::copy(numbers.view(range), average_.view(range).begin());
    return;
  }
  const double gain = decay_ ? 1 - *decay_ : 1 / (static_cast<double>(count) + 1);
  run_chunks(team_, range, [&](Range chunk) {
    average_chunk(static_cast<float>(gain), chunk.size(), numbers.data() + chunk.begin,
                  average_.data() + chunk.begin);
  });
}

}  // namespace convoy
