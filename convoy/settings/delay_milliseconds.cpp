// SPDX-License-Identifier: Apache-2.0

#include "convoy/settings/delay_milliseconds.h"

#include "convoy/base/text.h"

namespace convoy {
namespace {

constexpr double kMostMilliseconds = 60000;

}  // namespace

std::optional<double> delay_milliseconds(std::string_view text) {
  if (text == "none") return 0;
  if (text == "small") return 10;
  if (text == "medium") return 20;
  if (text == "long") return 30;
  const std::optional<double> value = number_in(text);
  if (!value || !(*value >= 0 && *value <= kMostMilliseconds)) return std::nullopt;
  return value;
}

}  // namespace convoy
