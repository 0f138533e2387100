// SPDX-License-Identifier: Apache-2.0

#include "convoy/monitor/resource_sampler.h"

#include <fmt/format.h>

#include <algorithm>

#include "convoy/base/unix_time.h"
#include "convoy/system/quiet_thread.h"

namespace convoy {
namespace {

double percent_of(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 0;
}

}  // namespace

std::string resource_header() {
  return "time,rank,cpu_user_percent,cpu_system_percent,rss_bytes,peak_rss_bytes,"
         "bytes_sent,bytes_received,voluntary_switches,involuntary_switches,throttled_ms";
}

std::string to_csv(const ResourceRow& row) {
  return fmt::format("{:.3f},{},{:.1f},{:.1f},{},{},{},{},{},{},{}", row.time, row.rank,
                     row.user_percent, row.system_percent, row.rss_bytes,
                     row.peak_rss_bytes, row.bytes_sent, row.bytes_received,
                     row.voluntary_switches, row.involuntary_switches,
                     row.throttled_ms < 0 ? "" : fmt::format("{:.1f}", row.throttled_ms));
}

ResourceSampler::ResourceSampler(int rank, std::chrono::milliseconds every)
    : rank_(rank),
      every_(every),
      cpu_stat_(own_cpu_stat()),
      throttled_before_(throttled_milliseconds(cpu_stat_)),
      usage_(process_usage()) {
  thread_ = quiet_thread([this] { serve(); });
}

ResourceSampler::~ResourceSampler() { stop(); }

void ResourceSampler::stop() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  stopping_.notify_one();
  thread_.join();
}

void ResourceSampler::serve() {
  auto next = std::chrono::steady_clock::now() + every_;
  std::unique_lock lock(mutex_);
  while (!stopping_.wait_until(lock, next, [&] { return stop_; })) {
    add_row();
    next = std::max(next + every_, std::chrono::steady_clock::now());
  }
  add_row();
}

void ResourceSampler::add_row() {
  const ProcessUsage before = usage_;
  usage_ = process_usage();
  const double seconds = watch_.seconds();
  watch_.restart();
  const bool reported = throttled_before_ >= 0;
  rows_.push_back(
      {.time = unix_seconds(),
       .rank = rank_,
       .user_percent = percent_of(usage_.user_seconds - before.user_seconds, seconds),
       .system_percent =
           percent_of(usage_.system_seconds - before.system_seconds, seconds),
       .rss_bytes = usage_.resident_bytes,
       .peak_rss_bytes = usage_.peak_resident_bytes,
       .bytes_sent = sent_.load(std::memory_order_relaxed),
       .bytes_received = received_.load(std::memory_order_relaxed),
       .voluntary_switches = usage_.voluntary_switches,
       .involuntary_switches = usage_.involuntary_switches,
       .throttled_ms =
           reported ? throttled_milliseconds(cpu_stat_) - throttled_before_ : -1});
  waiting_.store(rows_.size(), std::memory_order_relaxed);
}

std::vector<ResourceRow> ResourceSampler::take(std::size_t most) {
  const std::scoped_lock lock(mutex_);
  const auto end =
      rows_.begin() + static_cast<std::ptrdiff_t>(std::min(most, rows_.size()));
  std::vector<ResourceRow> taken(rows_.begin(), end);
  rows_.erase(rows_.begin(), end);
  waiting_.store(rows_.size(), std::memory_order_relaxed);
  return taken;
}

}  // namespace convoy
