// SPDX-License-Identifier: Apache-2.0

#include "convoy/pages/run_curves.h"

#include "convoy/base/error.h"
#include "convoy/pages/metrics_file.h"
#include "convoy/pages/resources_file.h"

namespace convoy {
namespace {

constexpr std::size_t kMostSeries = 1000, kMostHistogramLines = 2000;

}  // namespace

RunCurves::RunCurves(std::optional<StepRange> steps) : steps_(steps) {
  places_ = {.step = {0}, .epoch = {0}, .seconds = {0}};
}

void RunCurves::read(const std::filesystem::path& folder, std::string_view metrics,
                     std::size_t most_steps) {
  read_metrics_curves(metrics, most_steps, *this);
  read_resource_curves(folder / "resources.csv", *this);
}

const PageSeries* RunCurves::find(const std::string& name,
                                  std::optional<std::size_t> rank) const {
  const auto found = index_.find({name, rank});
  return found == index_.end() ? nullptr : &series_[found->second];
}

void RunCurves::add(const std::string& name, std::optional<std::size_t> rank, double x,
                    double y, bool by_seconds) {
  auto found = index_.find({name, rank});
  if (found == index_.end()) {
    if (series_.size() == kMostSeries) return;
    found = index_.emplace(Key{name, rank}, series_.size()).first;
    series_.push_back({.name = name, .rank = rank, .by_seconds = by_seconds});
  }
  PageSeries& series = series_[found->second];
  series.x.push_back(x);
  series.y.push_back(y);
}

void RunCurves::add_place(double step, double epoch, double seconds) {
  if (!(step > places_.step.back())) return;
  places_.step.push_back(step);
  places_.epoch.push_back(epoch);
  places_.seconds.push_back(seconds);
}

void RunCurves::add_histograms(std::string_view line) {
  if (histogram_lines_.size() < kMostHistogramLines) histogram_lines_.emplace_back(line);
}

bool RunCurves::contains(double step) const {
  return !steps_ || (static_cast<double>(steps_->first) <= step &&
                     step <= static_cast<double>(steps_->last));
}

}  // namespace convoy
