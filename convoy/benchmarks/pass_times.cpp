// SPDX-License-Identifier: Apache-2.0

#include "convoy/benchmarks/pass_times.h"

#include <algorithm>
#include <numeric>

#include "convoy/base/clock.h"
#include "convoy/base/random.h"
#include "convoy/benchmarks/median.h"
#include "convoy/comm/reduction_order.h"
#include "convoy/models/models.h"
#include "convoy/optimizer/optimizer_step.h"
#include "convoy/setup/training_rig.h"
#include "convoy/setup/workload.h"

namespace convoy {
namespace {

constexpr int kProfiledClasses = 10;
constexpr int kWarmupPasses = 2;
constexpr std::size_t kLeastSteps = 7;

/// Returns, element by element, the largest value over all ranks.
std::vector<double> slowest(Comm& comm, const std::vector<double>& own) {
  std::vector<double> all(own.size() * static_cast<std::size_t>(comm.ranks()));
  comm.all_gather(std::as_bytes(std::span(own)), std::as_writable_bytes(std::span(all)));
  std::vector<double> most(own.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    most[i % own.size()] = std::max(most[i % own.size()], all[i]);
  }
  return most;
}

/// Records the time from one event of a pass to the next.
class PassWatch final : public PassListener {
 public:
  explicit PassWatch(const Layout& layout)
      : layout_(layout), forward_(layout.unit_count()), backward_(layout.unit_count()) {}

  void start() { watch_.restart(); }
  void after_forward(UnitId unit) override { note(forward_, unit); }
  void gradient_ready(SegmentId segment) override {
    note(backward_, layout_.segment(segment).unit);
  }

  /// Stores the times of the pass.
  void keep() {
    for (std::size_t u = 0; u < forward_.size(); ++u) {
      kept_forward_.resize(forward_.size());
      kept_backward_.resize(forward_.size());
      kept_forward_[u].push_back(forward_[u]);
      kept_backward_[u].push_back(backward_[u]);
    }
  }

  /// The time after the last event belongs to the first unit, which ends the pass.
  void finish() { backward_.front() += lap(); }
  void clear() {
    std::ranges::fill(forward_, 0.0);
    std::ranges::fill(backward_, 0.0);
  }

  /// Returns medians, scaled to a pass of that duration.
  std::vector<UnitSeconds> medians(double whole) const {
    std::vector<UnitSeconds> units;
    double sum = 0;
    for (std::size_t u = 0; u < forward_.size(); ++u) {
      units.push_back({median(kept_forward_[u]), median(kept_backward_[u])});
      sum += units.back().forward + units.back().backward;
    }
    for (UnitSeconds& unit : units) {
      unit.forward *= whole / sum;
      unit.backward *= whole / sum;
    }
    return units;
  }

 private:
  double lap() {
    const double seconds = watch_.seconds();
    watch_.restart();
    return seconds;
  }
  void note(std::vector<double>& of, UnitId unit) {
    of[static_cast<std::size_t>(unit)] += lap();
  }

  const Layout& layout_;
  Stopwatch watch_;
  std::vector<double> forward_, backward_;  // by unit, of the current pass
  std::vector<std::vector<double>> kept_forward_, kept_backward_;
};

/// The model, built for its default image size.
LaidOutModel default_image_model(const std::string& name) {
  const ModelEntry& entry = find_model(name);
  return lay_out(entry.make(entry.usual_input, kProfiledClasses));
}

RigOptions with_threads(int threads, RigOptions options) {
  options.threads = threads;
  return options;
}

/// A rank with a model, ready to run steps of `samples` samples.
class Rank {
 public:
  Rank(const Settings& settings, const PassTimesOptions& options, std::size_t samples,
       Comm& comm)
      : settings_(settings),
        samples_(samples),
        comm_(comm),
        model_(default_image_model(settings.model.name)),
        rig_(model_, with_threads(options.threads, rig_options(settings, model_.layout))),
        schedule_(schedule_options(settings, 1, 1)),
        images_(samples * model_.model.input.size()),
        labels_(samples),
        watch_(model_.layout) {
    rig_.initialize(settings.train.seed);
    rig_.plan_passes({.batch_size = samples,
                      .part = all_microbatches(1),
                      .network = network_options(settings, samples)});
    const RandomStream random(1, RngStream::synthetic);
    for (std::size_t i = 0; i < images_.size(); ++i) {
      images_[i] = 2 * random.uniform(i) - 1;
    }
    for (std::size_t i = 0; i < samples; ++i) {
      labels_[i] = static_cast<std::int32_t>(i % kProfiledClasses);
    }
  }

  void measure(double seconds, CostProfile& profile) {
    for (int i = 0; i < kWarmupPasses; ++i) step(false);
    const Stopwatch watch;
    do {
      step(true);
    } while (go_on(passes_.size() < kLeastSteps || watch.seconds() < seconds));
    profile.passes.push_back({samples_, watch_.medians(median(slowest(comm_, passes_)))});
    profile.update = median(slowest(comm_, updates_));
    profile.rest = median(rests_);
    profile.statistics_bytes = rig_.statistics().size() * sizeof(float);
    profile.units = units();
  }

 private:
  /// The first rank decides for all ranks.
  bool go_on(bool wanted) {
    auto word = static_cast<std::byte>(wanted);
    comm_.broadcast({&word, 1}, 0);
    return word != std::byte{0};
  }

  void step(bool counts) {
    comm_.barrier();
    watch_.clear();
    Stopwatch whole;
    rig_.start_step(number_, schedule_.at(0));
    rig_.microbatches().scale_loss(rig_.step().scale());
    Stopwatch part;
    watch_.start();
    rig_.microbatches().run(Samples{images_, labels_}, rig_.values(),
                            {settings_.train.seed, number_++}, watch_);
    watch_.finish();
    const double pass = part.seconds();
    part.restart();
    rig_.step().update(rig_.values(), rig_.microbatches().gradients().whole());
    const double update = part.seconds();
    rig_.microbatches().update_running_stats(samples_, rig_.statistics());
    const double rest = whole.seconds() - pass - update;
    if (!counts) return;
    watch_.keep();
    passes_.push_back(pass);
    updates_.push_back(update);
    rests_.push_back(rest);
  }

  std::vector<UnitBytes> units() const {
    std::vector<UnitBytes> units(model_.layout.unit_count());
    for (std::size_t u = 0; u < units.size(); ++u) {
      units[u].bytes = model_.layout.unit(UnitId{u}).size() * sizeof(float);
    }
    for (const Segment& segment : model_.layout.segments()) {
      units[static_cast<std::size_t>(segment.unit)].tensors.push_back(
          segment.range.size() * sizeof(float));
    }
    return units;
  }

  const Settings& settings_;
  std::size_t samples_;
  Comm& comm_;
  LaidOutModel model_;
  TrainingRig rig_;
  Schedule schedule_;
  std::vector<float> images_;
  std::vector<std::int32_t> labels_;
  PassWatch watch_;
  std::uint32_t number_ = 0;
  std::vector<double> passes_, updates_, rests_;
};

/// Returns seconds per byte of numbers that are read from memory.
double sum_rate() {
  constexpr std::size_t kFloats = std::size_t{1} << 21;
  constexpr int kTimes = 9;
  const ReductionOrder order(2, 2);
  const std::vector<float> left(kFloats, 1.0f);
  std::vector<float> right(kFloats, 1.0f);
  const float* partials[] = {left.data(), right.data()};
  std::vector<double> seconds;
  for (int i = 0; i < kTimes; ++i) {
    const Stopwatch watch;
    order.add(partials, right);
    seconds.push_back(watch.seconds());
  }
  return median(seconds) / (kFloats * sizeof(float));
}

}  // namespace

void measure_passes(const Settings& settings, const PassTimesOptions& options, Comm& comm,
                    CostProfile& profile) {
  profile.sum = sum_rate();
  for (const std::size_t samples : options.samples) {
    Rank(settings, options, samples, comm).measure(options.seconds, profile);
  }
}

}  // namespace convoy
