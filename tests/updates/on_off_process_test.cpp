// SPDX-License-Identifier: Apache-2.0

#include "convoy/updates/on_off_process.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

namespace convoy {
namespace {

OnOffProcess spells_of(double on, double off, std::uint32_t rank = 0) {
  return {on, off, RandomStream(3, RngStream::delay, rank)};
}

std::vector<bool> first_steps(const OnOffProcess& spells, std::size_t count) {
  std::vector<bool> states;
  for (std::size_t step = 0; step < count; ++step) states.push_back(spells.is_on(step));
  return states;
}

/// Lengths of the whole spells that are on, or of those that are off.
std::vector<double> lengths(const std::vector<bool>& states, bool on) {
  std::vector<double> found;
  std::size_t begin = 0;
  for (std::size_t i = 1; i < states.size(); ++i) {
    if (states[i] == states[i - 1]) continue;
    if (states[i - 1] == on && begin > 0) found.push_back(static_cast<double>(i - begin));
    begin = i;
  }
  return found;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// A mean of geometric lengths is this near its expectation, five deviations of it.
double tolerance(double expected, std::size_t count) {
  return 5 * std::sqrt(expected * (expected - 1) / static_cast<double>(count)) + 1e-12;
}

TEST(OnOffProcess, HaveTheGivenMeanLengths) {
  for (const auto& [on, off] : std::vector<std::pair<double, double>>{
           {20, 80}, {1, 1}, {1, 4}, {1.5, 1.25}, {2, 2}, {50, 1}, {3, 200}}) {
    const auto states = first_steps(spells_of(on, off), 200'000);
    const auto of_on = lengths(states, true), of_off = lengths(states, false);

    EXPECT_NEAR(mean(of_on), on, tolerance(on, of_on.size())) << on << " " << off;
    EXPECT_NEAR(mean(of_off), off, tolerance(off, of_off.size())) << on << " " << off;
  }
}

TEST(OnOffProcess, HaveGeometricLengths) {
  const auto found = lengths(first_steps(spells_of(5, 5), 200'000), true);
  std::map<double, double> shares;
  for (const double length : found) shares[length] += 1.0 / double(found.size());

  for (int length = 1; length <= 10; ++length) {
    const double expected = 0.2 * std::pow(0.8, length - 1);
    EXPECT_NEAR(shares[length], expected,
                5 * std::sqrt(expected / static_cast<double>(found.size())));
  }
}

TEST(OnOffProcess, AreAFunctionOfTheStepWhateverWasAskedBefore) {
  for (const auto& [on, off] : std::vector<std::pair<double, double>>{
           {20, 80}, {1, 1}, {1.5, 1.25}, {400, 400}}) {
    const auto expected = first_steps(spells_of(on, off), 1000);
    const OnOffProcess backwards = spells_of(on, off);
    for (std::size_t step = 1000; step-- > 0;) {
      ASSERT_EQ(backwards.is_on(step), expected[step]) << step;
    }
    const OnOffProcess jumping = spells_of(on, off);
    for (std::size_t i = 0; i < 1000; ++i) {
      const std::size_t step = i * 617 % 1000;
      ASSERT_EQ(jumping.is_on(step), expected[step]) << step;
      ASSERT_EQ(spells_of(on, off).is_on(step), expected[step]) << step;
    }
  }
}

/// The first step is as any other, whatever the stream.
TEST(OnOffProcess, BeginOnAsOftenAsTheyAreOn) {
  constexpr int kRanks = 10'000;
  for (const std::size_t step : {0u, 1u, 40u}) {
    int on = 0;
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      on += spells_of(20, 80, rank).is_on(step) ? 1 : 0;
    }
    EXPECT_NEAR(on / double(kRanks), 0.2, 5 * std::sqrt(0.2 * 0.8 / kRanks)) << step;
  }
}

TEST(OnOffProcess, OfRanksAreIndependent) {
  constexpr std::size_t kSteps = 200'000;
  const auto one = first_steps(spells_of(4, 4, 0), kSteps),
             other = first_steps(spells_of(4, 4, 1), kSteps);
  int both = 0;
  for (std::size_t i = 0; i < kSteps; ++i) both += one[i] && other[i] ? 1 : 0;

  // Of these chains a quarter of the steps; states hang together over some four steps.
  EXPECT_NEAR(both / double(kSteps), 0.25, 5 * std::sqrt(0.25 * 0.75 * 4 / kSteps));
}

}  // namespace
}  // namespace convoy
