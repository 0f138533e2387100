// SPDX-License-Identifier: Apache-2.0

#include "convoy/benchmarks/exchange_times.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "convoy/base/aligned.h"
#include "convoy/base/clock.h"
#include "convoy/benchmarks/median.h"
#include "convoy/comm/async_comm.h"
#include "convoy/strategy/gather_scatter.h"
#include "convoy/updates/step_all_gather.h"

namespace convoy {
namespace {

constexpr std::size_t kSizes[] = {256,       4 << 10, 32 << 10, 128 << 10,
                                  512 << 10, 2 << 20, 8 << 20,  16 << 20};
// Messages up to this size are timed several in a row.
constexpr std::size_t kSmall = 32 << 10;
constexpr int kInARow = 8;
constexpr int kWarmupExchanges = 3;
constexpr std::size_t kLeastExchanges = 9;
constexpr std::size_t kAgreementFloats =  // per rank, with one micro-batch
    (sizeof(StepReport) + sizeof(LossSum)) / sizeof(float);

/// One rank's side of the measurements.
class Measurement {
 public:
  Measurement(const ExchangeTimesOptions& options, Comm& comm)
      : options_(options),
        comm_(comm),
        order_(static_cast<std::size_t>(comm.ranks()), comm.ranks()),
        numbers_(std::max<std::size_t>(options.model_bytes, kSizes[0]) / sizeof(float)) {
    std::ranges::fill(numbers_.span(), 0.0f);
  }

  using Operation = std::function<void(std::span<float>)>;

  CostCurve curve(const Operation& operation) {
    std::vector<CostPoint> points;
    for (const std::size_t bytes : kSizes) {
      if (bytes > numbers_.span().size_bytes() && points.size() > 1) break;
      if (bytes > numbers_.span().size_bytes()) {
        numbers_ = AlignedBuffer<float>(bytes / sizeof(float));
      }
      points.push_back({bytes, measure(bytes / sizeof(float), operation)});
    }
    return CostCurve(points);
  }

  double measure(std::size_t floats, const Operation& operation) {
    const int row = floats * sizeof(float) <= kSmall ? kInARow : 1;
    const auto timed = [&] {
      comm_.barrier();
      const Stopwatch watch;
      for (int i = 0; i < row; ++i) operation(next(floats));
      return watch.seconds() / row;
    };
    for (int i = 0; i < kWarmupExchanges; ++i) timed();
    std::vector<double> seconds;
    const Stopwatch watch;
    do {
      seconds.push_back(timed());
    } while (
        go_on(seconds.size() < kLeastExchanges || watch.seconds() < options_.seconds));
    return median(seconds);
  }

  void all_reduce(std::span<float> whole) {
    const float* partial = whole.data();
    comm_.all_reduce(order_, {&partial, 1}, whole);
  }

  /// Exchanges tensors of each size as the strategy does.
  CostCurve gather_scatter() {
    AsyncComm async(comm_);
    GatherScatterSum sum({comm_, async, order_}, /*partials=*/1,
                         std::ranges::max(kSizes) / sizeof(float));
    return curve([&](std::span<float> whole) { sum.add_up(ReduceRange(whole)); });
  }

  /// Times the small all-gather of a step, run by the background thread.
  double agreement() {
    AsyncComm async(comm_);
    return measure_one(
        kAgreementFloats * static_cast<std::size_t>(comm_.ranks()),
        [&](std::span<float> all) { async.wait(async.start_all_gather_parts(all)); });
  }

  double background_all_reduce() {
    AsyncComm async(comm_);
    return measure_one(kSizes[0] / sizeof(float), [&](std::span<float> whole) {
      const float* partial = whole.data();
      async.wait(async.start_all_reduce(order_, {&partial, 1}, whole));
    });
  }

  double small_all_reduce() {
    return measure_one(kSizes[0] / sizeof(float),
                       [&](std::span<float> whole) { all_reduce(whole); });
  }

 private:
  /// Times one operation after a barrier, not several in a row.
  double measure_one(std::size_t floats, const Operation& operation) {
    std::vector<double> seconds;
    for (int i = 0; i < kSingles; ++i) {
      comm_.barrier();
      const Stopwatch watch;
      operation(next(floats));
      seconds.push_back(watch.seconds());
    }
    return median(seconds);
  }

  /// Returns the next range of the buffer.
  std::span<float> next(std::size_t floats) {
    if (begin_ + floats > numbers_.size()) begin_ = 0;
    const std::span<float> stretch = numbers_.span().subspan(begin_, floats);
    begin_ += floats;
    return stretch;
  }

  /// The first rank decides for all ranks.
  bool go_on(bool wanted) {
    auto word = static_cast<std::byte>(wanted);
    comm_.broadcast({&word, 1}, 0);
    return word != std::byte{0};
  }

  static constexpr int kSingles = 101;

  const ExchangeTimesOptions& options_;
  Comm& comm_;
  ReductionOrder order_;
  AlignedBuffer<float> numbers_;
  std::size_t begin_ = 0;
};

}  // namespace

CostCurve measure_all_reduce(const ExchangeTimesOptions& options, Comm& comm) {
  Measurement measurement(options, comm);
  return measurement.curve(
      [&](std::span<float> whole) { measurement.all_reduce(whole); });
}

void measure_exchanges(const ExchangeTimesOptions& options, Comm& comm,
                       CostProfile& profile) {
  if (comm.ranks() == 1) return;
  Measurement measurement(options, comm);
  profile.all_reduce =
      measurement.curve([&](std::span<float> whole) { measurement.all_reduce(whole); });
  profile.gather_scatter = measurement.gather_scatter();
  profile.agreement = measurement.agreement();
  profile.handoff =
      std::max(0.0, measurement.background_all_reduce() - measurement.small_all_reduce());
}

}  // namespace convoy
