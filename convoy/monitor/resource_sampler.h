// SPDX-License-Identifier: Apache-2.0
//
// ResourceSampler: samples the resources of this rank once per second, on its own thread.

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

/// One row of resources.csv. Ranks send it to each other as raw bytes.
struct ResourceRow {
  double time = 0;  // seconds since 1970
  std::int64_t rank = 0;
  double user_percent = 0, system_percent = 0;  // of one core, since the last row
  std::uint64_t rss_bytes = 0, peak_rss_bytes = 0;
  // Since the beginning of the run or process.
  std::uint64_t bytes_sent = 0, bytes_received = 0;
  std::uint64_t voluntary_switches = 0, involuntary_switches = 0;
  double throttled_ms = -1;  // negative: unknown
};

/// The file's header, and a row as a line; without newlines.
std::string resource_header();
std::string to_csv(const ResourceRow& row);

class ResourceSampler {
 public:
  explicit ResourceSampler(int rank,
                           std::chrono::milliseconds every = std::chrono::seconds(1));
  ~ResourceSampler();
  ResourceSampler(const ResourceSampler&) = delete;
  ResourceSampler& operator=(const ResourceSampler&) = delete;

  /// Sets the rank's traffic so far, for later rows. Costs two stores.
  void set_traffic(std::uint64_t sent, std::uint64_t received) {
    sent_.store(sent, std::memory_order_relaxed);
    received_.store(received, std::memory_order_relaxed);
  }

  bool has_rows() const { return waiting_.load(std::memory_order_relaxed) > 0; }

  /// Removes and returns the oldest rows, at most that many.
  std::vector<ResourceRow> take(std::size_t most);

  /// Ends the thread, with a last row for the time since the previous one.
  void stop();

 private:
  void serve();
  void add_row();

  int rank_;
  std::chrono::milliseconds every_;
  std::filesystem::path cpu_stat_;
  double throttled_before_;
  std::atomic<std::uint64_t> sent_ = 0, received_ = 0;
  // From the previous row.
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
