// SPDX-License-Identifier: Apache-2.0
//
// RunCurves: all curves of a run, read from metrics.jsonl and resources.csv in one pass
// each. Both files are foreign: anything may be in them.

#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convoy/pages/page_series.h"

namespace convoy {

/// Ranks that have curves of their own.
inline constexpr std::size_t kMostRanks = 64;

/// Where a step lies on the other axes: between two places both are interpolated.
struct StepPlaces {
  std::vector<double> step{}, epoch{}, seconds{};  // of the same length, ascending
};

/// The steps from `first` to `last`.
struct StepRange {
  std::uint64_t first = 0, last = 0;
};

class RunCurves {
 public:
  /// With `steps`, only those.
  explicit RunCurves(std::optional<StepRange> steps = {});

  /// Adds the curves of metrics.jsonl, whose text is given, of about `most_steps` steps,
  /// and those of a folder's resources.csv. What cannot be read is left out.
  void read(const std::filesystem::path& folder, std::string_view metrics,
            std::size_t most_steps);

  /// In the order in which they appeared first.
  const std::vector<PageSeries>& series() const { return series_; }
  /// The curve of that name and rank, or nullptr.
  const PageSeries* find(const std::string& name,
                         std::optional<std::size_t> rank = {}) const;
  const StepPlaces& places() const { return places_; }

  /// Adds a point. Curves beyond the number that a page can show are left out.
  void add(const std::string& name, std::optional<std::size_t> rank, double x, double y,
           bool by_seconds = false);
  void add_place(double step, double epoch, double seconds);

  bool contains(double step) const;

  /// Keeps a record of histograms. Those beyond what a run can be expected to have are
  /// left out.
  void add_histograms(std::string_view line);
  const std::vector<std::string>& histogram_lines() const { return histogram_lines_; }

 private:
  using Key = std::pair<std::string, std::optional<std::size_t>>;

  std::optional<StepRange> steps_;
  std::vector<PageSeries> series_;
  std::map<Key, std::size_t> index_;
  StepPlaces places_;
  std::vector<std::string> histogram_lines_;
};

}  // namespace convoy
