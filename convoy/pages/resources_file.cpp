// SPDX-License-Identifier: Apache-2.0

#include "convoy/pages/resources_file.h"

#include <map>
#include <optional>

#include "convoy/compare/resource_rows.h"

namespace convoy {
namespace {

class ResourceReader {
 public:
  explicit ResourceReader(RunCurves& curves) : curves_(curves) {}

  void take(const RecordedResources& row) {
    if (!(row.rank >= 0 && row.rank < static_cast<double>(kMostRanks))) return;
    const auto rank = static_cast<std::size_t>(row.rank);
    if (!begin_) begin_ = row.time;
    const double seconds = row.time - *begin_;
    curves_.add("cpu/percent", rank, seconds, row.cpu_percent, true);
    curves_.add("mem/resident_bytes", rank, seconds, row.resident_bytes, true);
    add_rates(rank, row);
    before_[rank] = row;
  }

 private:
  /// Counters begin again at zero when a run is resumed.
  void add_rates(std::size_t rank, const RecordedResources& row) {
    const auto found = before_.find(rank);
    if (found == before_.end()) return;
    const RecordedResources& before = found->second;
    const double passed = row.time - before.time,
                 sent = row.sent_bytes - before.sent_bytes,
                 received = row.received_bytes - before.received_bytes;
    if (!(passed > 0) || sent < 0 || received < 0) return;
    const double seconds = row.time - *begin_;
    curves_.add("net/sent_bytes_per_second", rank, seconds, sent / passed, true);
    curves_.add("net/received_bytes_per_second", rank, seconds, received / passed, true);
  }

  RunCurves& curves_;
  std::optional<double> begin_;
  std::map<std::size_t, RecordedResources> before_;  // by rank
};

}  // namespace

void read_resource_curves(const std::filesystem::path& path, RunCurves& curves) {
  ResourceReader reader(curves);
  for (const RecordedResources& row : read_resource_rows(path)) reader.take(row);
}

}  // namespace convoy
