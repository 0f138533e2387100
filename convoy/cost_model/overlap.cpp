// SPDX-License-Identifier: Apache-2.0

#include "convoy/cost_model/overlap.h"

#include <algorithm>
#include <deque>

#include "convoy/base/error.h"

namespace convoy {
namespace {

// Largest share of a core that an exchange takes from a computing thread.
constexpr double kMostShare = 0.5;

class Clock {
 public:
  explicit Clock(const OverlapOptions& options) : options_(options) {}

  void run(const Work& work) {
    start(work.before);
    while (done_ < work.needs) finish_first();
    compute(work.seconds);
    start(work.after);
  }

  OverlapEnd end() {
    OverlapEnd end{.computed = now_};
    while (!under_way_.empty()) finish_first();
    end.exchanged = now_;
    return end;
  }

 private:
  struct UnderWay {
    double left;    // seconds, alone
    double demand;  // cores
  };

  void start(const std::vector<Exchange>& exchanges) {
    for (const Exchange& exchange : exchanges) {
      const double seconds =
          exchange.seconds + (under_way_.empty() ? options_.handoff : 0);
      under_way_.push_back({seconds, seconds > 0 ? exchange.busy / seconds : 0});
    }
  }

  void finish_first() {
    check(!under_way_.empty(), "an awaited exchange was started");
    now_ += under_way_.front().left;
    under_way_.pop_front();
    ++done_;
  }

  /// Returns how many cores the first exchange takes from computing.
  double taken() const {
    const double demand = under_way_.front().demand;
    return std::clamp(demand - options_.spare_cores, 0.0, kMostShare);
  }

  double exchange_speed() const {
    const double demand = under_way_.front().demand;
    if (demand <= 0) return 1;
    return std::min(1.0, (std::min(demand, options_.spare_cores) + taken()) / demand);
  }

  void compute(double seconds) {
    while (seconds > 0 && !under_way_.empty()) {
      UnderWay& first = under_way_.front();
      const double speed = 1 - taken() / options_.threads;
      const double other_speed = exchange_speed();
      const double step = std::min(seconds / speed, first.left / other_speed);
      now_ += step;
      const bool over = first.left / other_speed <= step;
      seconds = seconds / speed <= step ? 0 : seconds - step * speed;
      first.left -= step * other_speed;
      if (!over) continue;
      under_way_.pop_front();
      ++done_;
    }
    now_ += seconds;
  }

  const OverlapOptions& options_;
  std::deque<UnderWay> under_way_;
  std::size_t done_ = 0;
  double now_ = 0;
};

}  // namespace

Exchange& Exchange::operator+=(const Exchange& other) {
  seconds += other.seconds;
  busy += other.busy;
  sent += other.sent;
  link_bytes += other.link_bytes;
  return *this;
}

OverlapEnd overlap(std::span<const Work> works, const OverlapOptions& options) {
  Clock clock(options);
  for (const Work& work : works) clock.run(work);
  return clock.end();
}

}  // namespace convoy
