// SPDX-License-Identifier: Apache-2.0

#include "convoy/benchmarks/collective_bench.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "convoy/base/aligned.h"
#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/comm/connect.h"
#include "convoy/comm/gloo_baseline.h"
#include "convoy/rendezvous/file_store.h"
#include "convoy/system/children.h"
#include "convoy/system/temporary_folder.h"

namespace convoy {
namespace {

constexpr std::size_t kSmallest = std::size_t{4} << 10, kLargest = std::size_t{64} << 20;
constexpr int kWarmups = 3;
constexpr std::size_t kLeastSamples = 9;

std::vector<std::size_t> default_sizes() {
  std::vector<std::size_t> sizes;
  for (std::size_t bytes = kSmallest; bytes <= kLargest; bytes *= 4)
    sizes.push_back(bytes);
  return sizes;
}

CollectiveTime time_of(std::vector<double>& seconds, std::size_t bytes) {
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return {.p50_us = *middle * 1e6,
          .gb_per_s = static_cast<double>(bytes) / *middle * 1e-9};
}

/// One rank's side of the measurement.
class Bench {
 public:
  Bench(const CollectiveBenchOptions& options, int rank, KeyValueStore& store)
      : options_(options),
        comm_(connect({.rank = rank,
                       .ranks = options.ranks,
                       .transport = options.transport,
                       .name = "ours"},
                      store)),
        gloo_({.rank = rank, .ranks = options.ranks, .name = "gloo"}, store),
        order_(static_cast<std::size_t>(options.ranks), options.ranks) {}

  std::vector<CollectiveRow> run() {
    std::vector<CollectiveRow> rows;
    for (const std::size_t bytes : options_.bytes) rows.push_back(measure(bytes));
    comm_->barrier();
    return rows;
  }

 private:
  void ours() {
    const float* partial = numbers_.data();
    comm_->all_reduce(order_, {&partial, 1}, numbers_.span());
  }

  void verify(const std::function<void()>& all_reduce) {
    std::ranges::fill(numbers_.span(), 1.0f);
    all_reduce();
    const auto sum = static_cast<float>(options_.ranks);
    check(std::ranges::all_of(numbers_.span(), [&](float x) { return x == sum; }),
          "every element is the sum over ranks");
    std::ranges::fill(numbers_.span(), 0.0f);
  }

  double timed(const std::function<void()>& all_reduce) {
    comm_->barrier();
    const Stopwatch watch;
    all_reduce();
    return watch.seconds();
  }

  /// The first rank decides for all ranks.
  bool go_on(bool wanted) {
    auto word = static_cast<std::byte>(wanted);
    comm_->broadcast({&word, 1}, 0);
    return word != std::byte{0};
  }

  CollectiveRow measure(std::size_t bytes) {
    numbers_ = AlignedBuffer<float>(bytes / sizeof(float));
    const auto mine = [this] { ours(); };
    const auto theirs = [this] { gloo_.all_reduce(numbers_.span()); };
    verify(mine);
    verify(theirs);
    for (int i = 0; i < kWarmups; ++i) {
      timed(mine);
      timed(theirs);
    }
    std::vector<double> own_seconds, gloo_seconds;
    const Stopwatch watch;
    do {
      own_seconds.push_back(timed(mine));
      gloo_seconds.push_back(timed(theirs));
    } while (
        go_on(own_seconds.size() < kLeastSamples || watch.seconds() < options_.seconds));
    return {.bytes = bytes,
            .samples = own_seconds.size(),
            .ours = time_of(own_seconds, bytes),
            .gloo = time_of(gloo_seconds, bytes)};
  }

  const CollectiveBenchOptions& options_;
  std::unique_ptr<Comm> comm_;
  GlooBaseline gloo_;
  ReductionOrder order_;
  AlignedBuffer<float> numbers_;
};

using RankRun = std::function<std::vector<CollectiveRow>(int rank)>;

std::vector<CollectiveRow> run_as_threads(int ranks, const RankRun& run) {
  std::vector<std::thread> others;
  for (int rank = 1; rank < ranks; ++rank) {
    others.emplace_back([&run, rank] {
      try {
        run(rank);
      } catch (const PeerError&) {
        return;  // the first rank fails too, and reports it
      }
    });
  }
  std::exception_ptr thrown;
  std::vector<CollectiveRow> rows;
  try {
    rows = run(0);
  } catch (...) {
    thrown = std::current_exception();
  }
  for (std::thread& other : others) other.join();
  if (thrown) std::rethrow_exception(thrown);
  return rows;
}

std::vector<CollectiveRow> run_as_processes(int ranks, const RankRun& run) {
  Children children;
  for (int rank = 1; rank < ranks; ++rank) {
    children.start([&run, rank] { run(rank); });
  }
  return run(0);
}

}  // namespace

std::vector<CollectiveRow> bench_collective(const CollectiveBenchOptions& given) {
  CollectiveBenchOptions options = given;
  if (options.bytes.empty()) options.bytes = default_sizes();
  const TemporaryFolder place;
  const RankRun run = [&](int rank) {
    FileStore store(place.path());
    return Bench(options, rank, store).run();
  };
  return options.threads ? run_as_threads(options.ranks, run)
                         : run_as_processes(options.ranks, run);
}

}  // namespace convoy
