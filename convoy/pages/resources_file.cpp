// SPDX-License-Identifier: Apache-2.0

#include "convoy/pages/resources_file.h"

#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>

#include "convoy/base/error.h"
#include "convoy/system/file.h"

namespace convoy {
namespace {

constexpr std::size_t kMostResourceBytes = std::size_t{1} << 28;

/// time, rank, CPU in user and in system mode, memory now and at most, sent, received.
using Row = std::array<double, 8>;

std::optional<Row> row_of(std::string_view line) {
  Row row{};
  for (double& value : row) {
    const char* const end = line.data() + line.size();
    const auto [rest, error] = std::from_chars(line.data(), end, value);
    if (error != std::errc()) return {};
    line.remove_prefix(static_cast<std::size_t>(rest - line.data()));
    if (!line.empty() && line.front() == ',') line.remove_prefix(1);
  }
  return row;
}

class ResourceReader {
 public:
  explicit ResourceReader(RunCurves& curves) : curves_(curves) {}

  void take(const Row& row) {
    const auto [time, number, user, system, resident, peak, sent, received] = row;
    if (!(number >= 0 && number < static_cast<double>(kMostRanks))) return;
    const auto rank = static_cast<std::size_t>(number);
    if (!begin_) begin_ = time;
    const double seconds = time - *begin_;
    curves_.add("cpu/percent", rank, seconds, user + system, true);
    curves_.add("mem/resident_bytes", rank, seconds, resident, true);
    add_rates(rank, row);
    before_[rank] = row;
  }

 private:
  /// Counters begin again at zero when a run is resumed.
  void add_rates(std::size_t rank, const Row& row) {
    const auto found = before_.find(rank);
    if (found == before_.end()) return;
    const Row& before = found->second;
    const double passed = row[0] - before[0], sent = row[6] - before[6],
                 received = row[7] - before[7];
    if (!(passed > 0) || sent < 0 || received < 0) return;
    const double seconds = row[0] - *begin_;
    curves_.add("net/sent_bytes_per_second", rank, seconds, sent / passed, true);
    curves_.add("net/received_bytes_per_second", rank, seconds, received / passed, true);
  }

  RunCurves& curves_;
  std::optional<double> begin_;
  std::map<std::size_t, Row> before_;  // by rank
};

}  // namespace

void read_resource_curves(const std::filesystem::path& path, RunCurves& curves) try {
  const std::string text = read_text(path, kMostResourceBytes);
  ResourceReader reader(curves);
  std::string_view rest = text;
  for (std::size_t end = 0; (end = rest.find('\n')) != rest.npos;) {
    if (const auto row = row_of(rest.substr(0, end))) reader.take(*row);
    rest.remove_prefix(end + 1);
  }
} catch (const InputError&) {
  // There are no curves of it.
}

}  // namespace convoy
