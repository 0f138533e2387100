// SPDX-License-Identifier: Apache-2.0
//
// ResourceSampler: what this rank uses, once a second, by a thread of its own.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "convoy/base/clock.h"
#include "convoy/system/process_usage.h"

namespace convoy {

/// One row of resources.csv. Ranks send it to each other as it is.
struct ResourceRow {
  double time = 0;  // seconds since 1970
  std::int64_t rank = 0;
  double user_percent = 0, system_percent = 0;  // of one core, since the row before
  std::uint64_t rss_bytes = 0, peak_rss_bytes = 0;
  // Since the run began, or the process.
  std::uint64_t bytes_sent = 0, bytes_received = 0;
  std::uint64_t voluntary_switches = 0, involuntary_switches = 0;
  double throttled_ms = -1;  // negative: the kernel does not say
};

/// The first line of the file, and a row as one; without a newline.
std::string resource_header();
std::string to_csv(const ResourceRow& row);

class ResourceSampler {
 public:
  explicit ResourceSampler(int rank,
                           std::chrono::milliseconds every = std::chrono::seconds(1));
  ~ResourceSampler();
  ResourceSampler(const ResourceSampler&) = delete;
  ResourceSampler& operator=(const ResourceSampler&) = delete;

  /// What the rank has sent and received so far, for the rows to come. Two stores.
  void set_traffic(std::uint64_t sent, std::uint64_t received) {
    sent_.store(sent, std::memory_order_relaxed);
    received_.store(received, std::memory_order_relaxed);
  }

  bool has_rows() const { return waiting_.load(std::memory_order_relaxed) > 0; }

  /// The oldest rows, at most that many; they are not given again.
  std::vector<ResourceRow> take(std::size_t most);

  /// Ends the thread, with a last row of the time since the one before.
  void stop();

 private:
  void serve();
  void add_row();

  int rank_;
  std::chrono::milliseconds every_;
  std::filesystem::path cpu_stat_;
  double throttled_before_;
  std::atomic<std::uint64_t> sent_ = 0, received_ = 0;
  // Of the row before.
  ProcessUsage usage_;
  Stopwatch watch_;

  std::mutex mutex_;
  std::condition_variable stopping_;
  bool stop_ = false;
  std::vector<ResourceRow> rows_;
  std::atomic<std::size_t> waiting_ = 0;  // rows_.size()
  std::thread thread_;
};

}  // namespace convoy
