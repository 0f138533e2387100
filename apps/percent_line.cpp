// SPDX-License-Identifier: Apache-2.0

#include "apps/percent_line.h"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "convoy/base/text.h"

namespace convoy {
namespace {

constexpr double kRedrawSeconds = 0.1, kPlainSeconds = 10;

}  // namespace

PercentLine::PercentLine(std::string what, int columns)
    : what_(std::move(what)), columns_(columns) {}

void PercentLine::update(double part) {
  const bool redraws = columns_ > 0;
  if (since_shown_.seconds() < (redraws ? kRedrawSeconds : kPlainSeconds)) return;
  since_shown_.restart();
  const double left = since_begin_.seconds() * (1 - part) / part;
  const std::string text = fmt::format(
      "{}  {:3}%  ETA {}", what_, static_cast<int>(100 * part), human_duration(left));
  if (redraws) {
    std::fprintf(stdout, "\r\x1b[K%.*s", columns_ - 1, text.c_str());
    drawn_ = true;
  } else {
    std::fprintf(stdout, "%s\n", text.c_str());
  }
  std::fflush(stdout);
}

void PercentLine::finish() {
  if (std::exchange(drawn_, false)) std::fputs("\r\x1b[K", stdout);
}

}  // namespace convoy
