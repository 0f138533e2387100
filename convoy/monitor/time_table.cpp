// SPDX-License-Identifier: Apache-2.0

#include "convoy/monitor/time_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace convoy {
namespace {

std::string row(const char* name, double seconds, double total) {
  return fmt::format("{:<18}{:>12.2f}{:>10.1f}\n", name, seconds,
                     total > 0 ? 100 * seconds / total : 0);
}

}  // namespace

// Clocks are read one after the other, so a difference may be slightly negative.
double RunTimes::computing() const {
  return std::max(0.0, training - waiting_for_data - communicating);
}

double RunTimes::other() const {
  return std::max(0.0, total - training - checkpointing - evaluating);
}

std::string time_table(const RunTimes& times) {
  return fmt::format("{:<18}{:>12}{:>10}\n", "time", "seconds", "%") +
         row("computing", times.computing(), times.total) +
         row("waiting for data", times.waiting_for_data, times.total) +
         row("communicating", times.communicating, times.total) +
         row("checkpointing", times.checkpointing, times.total) +
         row("evaluating", times.evaluating, times.total) +
         row("other", times.other(), times.total) +
         row("total", times.total, times.total);
}

}  // namespace convoy
