// SPDX-License-Identifier: Apache-2.0

#include "convoy/monitor/resource_records.h"

#include <algorithm>
#include <array>

namespace convoy {
namespace {

constexpr std::size_t kMostRows = 8;  // per rank and message

struct Message {
  std::uint64_t count = 0;
  std::array<ResourceRow, kMostRows> rows{};
};

}  // namespace

ResourceRecords::ResourceRecords(Comm& comm, RunFolder* folder,
                                 std::chrono::milliseconds every)
    : comm_(comm), folder_(folder), sampler_(comm.rank(), every) {
  if (folder_ != nullptr) folder_->start_resources(resource_header());
}

void ResourceRecords::after_step(const Traffic& traffic, bool gather) {
  sampler_.set_traffic(traffic.bytes_sent, traffic.bytes_received);
  if (gather) gather_some();
}

void ResourceRecords::finish() {
  sampler_.stop();
  while (gather_some()) {
  }
}

/// Sends at most kMostRows rows to the first rank, which writes them. Returns whether any
/// rank may have more.
bool ResourceRecords::gather_some() {
  const std::vector<ResourceRow> own = sampler_.take(kMostRows);
  Message message{.count = own.size()};
  std::ranges::copy(own, message.rows.begin());
  std::vector<Message> all(static_cast<std::size_t>(comm_.ranks()));
  comm_.all_gather(std::as_bytes(std::span(&message, 1)),
                   std::as_writable_bytes(std::span(all)));
  if (folder_ != nullptr) {
    std::vector<ResourceRow> rows;
    for (const Message& one : all) {
      rows.insert(rows.end(), one.rows.begin(), one.rows.begin() + one.count);
    }
    std::ranges::stable_sort(rows, {}, &ResourceRow::time);
    for (const ResourceRow& row : rows) folder_->add_resources(to_csv(row));
    folder_->flush();
  }
  return std::ranges::any_of(all,
                             [](const Message& one) { return one.count == kMostRows; });
}

}  // namespace convoy
