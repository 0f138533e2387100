// SPDX-License-Identifier: Apache-2.0
//
// How long 3x3 convolutions as VGG-11, ResNet-18 and our own network have them take, or
// the one that is named, forward and backward.
//
//   convolution_bench [threads] [batch] [f4|f2|off] [rounds] [C,K,HW,STEP]   (2 64 f4 7)
//
// Times are the least of the rounds. GFLOP/s are counted for the plain way; "probe" is
// what the machine's multiply-adds reached just before.

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "convoy/base/clock.h"
#include "convoy/network/kernels/kernel_sets.h"
#include "convoy/network/layers/convolution.h"
#include "convoy/network/layers/relu.h"
#include "convoy/network/stage_builder.h"
#include "convoy/params/flat_buffer.h"
#include "convoy/system/fma_probe.h"

namespace convoy {
namespace {

struct Bench {
  int threads = 2;
  std::size_t batch = 64;
  WinogradMode mode = WinogradMode::f4;
  int rounds = 7;
};

struct Times {
  double forward = 1e9, backward = 1e9, taps = 1e9;  // ms; taps: without the source's
};

/// One convolution among its activations.
class Layer3x3 {
 public:
  Layer3x3(const Bench& bench, Shape src, int channels, int stride)
      : model_{"bench", src, {Convolution{"conv", channels, 3, stride, 1}, Relu{}}},
        layout_(build_layout(model_)),
        values_(layout_),
        gradients_(layout_),
        team_(bench.threads),
        packs_(round_up(bench.batch, kPack) / kPack) {
    initialize(layout_, 1, values_);
    for (const Segment& segment : layout_.segments()) {
      parameters_.push_back({values_.data() + segment.range.begin,
                             gradients_.data() + segment.range.begin});
    }
    const auto specs = fuse_layers(model_, {.training = true, .winograd = bench.mode});
    ArenaPlan plan;
    const StageContext context{.plan = plan,
                               .most_samples = packs_ * kPack,
                               .threads = bench.threads,
                               .forward = 1,
                               .backward = 2,
                               .training = true,
                               .number = 0};
    stage_ = specs[0].first().layer.kind().make_stage(specs[0], context);
    const auto reserve = [&](Shape shape) {
      return plan.reserve(packs_ * pack_floats(shape) * sizeof(float), {0, 3});
    };
    src_ = reserve(src), src_gradient_ = reserve(src);
    dst_ = reserve(specs[0].dst()), dst_gradient_ = reserve(specs[0].dst());
    plan.solve();
    arena_ = Arena(std::move(plan));
    fill(src_, packs_ * pack_floats(src));
    fill(dst_gradient_, packs_ * pack_floats(specs[0].dst()));
  }

  void measure(Times& times) {
    const Pass pass{.team = team_,
                    .kernels = best_kernel_set(),
                    .arena = arena_,
                    .samples = packs_ * kPack,
                    .key = {},
                    .parameters = parameters_};
    const Activation src = {arena_.get(src_), arena_.get(src_gradient_)};
    const Activation source_only = {src.values, nullptr};
    const Activation dst = {arena_.get(dst_), arena_.get(dst_gradient_)};
    times.forward = std::min(times.forward, timed([&] {
                               stage_->forward(pass, {&src, 1}, dst);
                             }));
    times.backward = std::min(times.backward, timed([&] {
                                stage_->backward(pass, {&src, 1}, dst);
                              }));
    times.taps = std::min(times.taps, timed([&] {
                            stage_->backward(pass, {&source_only, 1}, dst);
                          }));
  }

  double probe() {
    const Stopwatch watch;
    double gflops = 0;
    const double milliseconds = timed([&] { gflops = fma_probe_gflops(team_, 10); });
    return gflops * watch.seconds() * 1e3 / milliseconds;
  }
  std::size_t arena_bytes() const { return arena_.bytes(); }

 private:
  void fill(SlotId slot, std::size_t count) {
    float* to = arena_.get(slot);
    for (std::size_t i = 0; i < count; ++i) {
      to[i] = static_cast<float>(i * 2654435761u % 1000) / 500.0f - 1;
    }
  }

  /// Milliseconds; those of the processor, where they tell: on one thread.
  template <class Work>
  double timed(const Work& work) const {
    const Stopwatch watch;
    const std::clock_t before = std::clock();
    work();
    if (team_.threads() > 1) return watch.seconds() * 1e3;
    return static_cast<double>(std::clock() - before) * 1e3 / CLOCKS_PER_SEC;
  }

  Model model_;
  Layout layout_;
  FlatBuffer values_, gradients_;
  std::vector<ParameterView> parameters_;
  ThreadTeam team_;
  std::size_t packs_;
  Arena arena_;
  std::unique_ptr<Stage> stage_;
  SlotId src_, src_gradient_, dst_, dst_gradient_;
};

struct Case {
  int c, k, hw, stride = 1;
};

void bench_layer(const Bench& bench, const Case& which) {
  const Shape src = {which.c, which.hw, which.hw};
  Layer3x3 layer(bench, src, which.k, which.stride);
  Times times;
  double probe = 0;
  for (int i = 0; i < bench.rounds; ++i) {
    probe = std::max(probe, layer.probe());
    layer.measure(times);
  }
  const double gflop = 2e-9 * 9 * static_cast<double>(bench.batch) *
                       static_cast<double>(src.size()) * which.k /
                       (which.stride * which.stride);
  fmt::print(
      "{:4} {:4} {:3} {:4} {:8.2f} {:8.2f} {:8.2f} {:8.2f} {:8.0f} {:8.0f} {:6.0f} "
      "{:6.0f}\n",
      which.c, which.k, which.hw, which.stride, times.forward,
      times.backward - times.taps, times.taps, times.backward,
      gflop / times.forward * 1e3, 2 * gflop / times.backward * 1e3, probe,
      static_cast<double>(layer.arena_bytes()) / (1 << 20));
}

}  // namespace
}  // namespace convoy

int main(int argc, char** argv) {
  using namespace convoy;
  Bench bench;
  if (argc > 1) bench.threads = std::atoi(argv[1]);
  if (argc > 2) bench.batch = static_cast<std::size_t>(std::atoi(argv[2]));
  const std::string mode = argc > 3 ? argv[3] : "f4";
  if (mode != "f4") bench.mode = mode == "f2" ? WinogradMode::f2 : WinogradMode::off;
  if (argc > 4) bench.rounds = std::atoi(argv[4]);
  const std::string only = argc > 5 ? argv[5] : "";
  fmt::print("batch {}, {} threads, {}\n", bench.batch, bench.threads, mode);
  fmt::print("{:>4} {:>4} {:>3} {:>4} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>6} {:>6}\n",
             "C", "K", "HW", "stride", "fwd ms", "dx ms", "dw ms", "bwd ms", "fwd GF/s",
             "bwd GF/s", "probe", "MiB");
  Case one;
  if (std::sscanf(only.c_str(), "%d,%d,%d,%d", &one.c, &one.k, &one.hw, &one.stride) >=
      3) {
    bench_layer(bench, one);
    return 0;
  }
  for (const Case& which :
       {Case{3, 64, 32}, Case{16, 16, 32}, Case{32, 64, 32}, Case{64, 64, 32},
        Case{64, 64, 16}, Case{64, 64, 8}, Case{64, 128, 16}, Case{64, 256, 16},
        Case{128, 256, 8}, Case{256, 256, 8}, Case{256, 512, 4}, Case{512, 512, 4},
        Case{512, 512, 2}, Case{512, 512, 1}, Case{64, 128, 32, 2}, Case{128, 256, 16, 2},
        Case{256, 512, 8, 2}}) {
    bench_layer(bench, which);
  }
}
