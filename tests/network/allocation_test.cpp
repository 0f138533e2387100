// SPDX-License-Identifier: Apache-2.0
//
// A step allocates nothing: this file counts every operator new of the program.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "convoy/comm/alone_comm.h"
#include "convoy/loader/loader.h"
#include "convoy/network/microbatches.h"
#include "convoy/optimizer/clip_norm.h"
#include "convoy/optimizer/registry.h"
#include "convoy/optimizer/sgd.h"
#include "convoy/strategy/registry.h"
#include "convoy/strategy/single.h"
#include "tests/allocation_count.h"
#include "tests/comm/thread_ranks.h"
#include "tests/network/made_up.h"

namespace {

std::atomic<long> allocations{0};

constexpr std::align_val_t kUsual{__STDCPP_DEFAULT_NEW_ALIGNMENT__};

void* try_allocate(std::size_t size, std::align_val_t to = kUsual) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  // aligned_alloc wants a multiple of the alignment, and something.
  const auto alignment = static_cast<std::size_t>(to);
  return std::aligned_alloc(alignment, (size / alignment + 1) * alignment);
}

void* allocate(std::size_t size, std::align_val_t to = kUsual) {
  if (void* memory = try_allocate(size, to)) return memory;
  throw std::bad_alloc();
}

// Inlined beside an operator new, GCC takes free for a mistake.
[[gnu::noinline]] void release(void* memory) noexcept { std::free(memory); }

}  // namespace

// Every form, since a sanitizer's own would not call another.
using Alignment = std::align_val_t;
using NoThrow = const std::nothrow_t&;

void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void* operator new(std::size_t size, NoThrow) noexcept { return try_allocate(size); }
void* operator new[](std::size_t size, NoThrow) noexcept { return try_allocate(size); }
void* operator new(std::size_t size, Alignment to) { return allocate(size, to); }
void* operator new[](std::size_t size, Alignment to) { return allocate(size, to); }
void* operator new(std::size_t size, Alignment to, NoThrow) noexcept {
  return try_allocate(size, to);
}
void* operator new[](std::size_t size, Alignment to, NoThrow) noexcept {
  return try_allocate(size, to);
}

void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, NoThrow) noexcept { release(memory); }
void operator delete[](void* memory, NoThrow) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, Alignment) noexcept { release(memory); }
void operator delete[](void* memory, Alignment) noexcept { release(memory); }
void operator delete(void* memory, Alignment, NoThrow) noexcept { release(memory); }
void operator delete[](void* memory, Alignment, NoThrow) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, Alignment) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t, Alignment) noexcept { release(memory); }

namespace convoy {

long allocation_count() { return allocations; }

namespace {

constexpr std::size_t kBatch = 20;

/// Random pixels; enough for some batches and a smaller one.
Dataset made_up_dataset(Shape shape) {
  constexpr std::size_t kSamples = 2 * kBatch + 3;
  Dataset data = {.name = "made up", .shape = shape, .classes = {"0", "1", "2"}};
  std::vector<std::uint8_t> images;
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < kSamples * shape.size(); ++i) {
    images.push_back(static_cast<std::uint8_t>(i * 7919 % 251));
  }
  for (std::size_t i = 0; i < kSamples; ++i) {
    labels.push_back(static_cast<std::int32_t>(i % 3));
  }
  data.images = images;
  data.labels = labels;
  return data;
}

std::vector<std::uint32_t> all_samples(const Dataset& data) {
  std::vector<std::uint32_t> samples;
  for (std::uint32_t i = 0; i < data.size(); ++i) samples.push_back(i);
  return samples;
}

class Step : public testing::TestWithParam<std::string> {};

TEST_P(Step, AllocatesNothingNorDoesLoadingItsBatch) {
  const Model model = small_model(GetParam());
  const Layout layout = build_layout(model);
  const Dataset data = made_up_dataset(model.input);
  Loader loader(data, all_samples(data), {.batch_size = kBatch});
  ThreadTeam team(2);
  FlatBuffer values = made_up_values(layout);
  FlatBuffer statistics(build_statistics_layout(model));
  Network network(model, layout, {.most_samples = Microbatches::most_samples(kBatch, 3)},
                  team);
  Microbatches microbatches(network, layout, all_microbatches(3), team);
  Sgd sgd(layout, {.rate = 0.01f, .momentum = 0.9f}, team);
  Single strategy({layout, network.statistics_layout(), values, statistics,
                   microbatches.gradients(), microbatches.batch_stats(), sgd});
  loader.start_epoch(0);

  long before = 0;
  std::uint32_t steps = 0;
  while (const Batch* batch = loader.next()) {
    if (++steps == 2) before = allocations;  // the first one warms up
    microbatches.run(Samples{batch->images, batch->labels}, values, {.step = steps},
                     strategy);
    strategy.step();
    microbatches.update_running_stats(batch->count, statistics);
  }
  const long after = allocations;

  EXPECT_EQ(steps, 3u);
  EXPECT_EQ(after - before, 0);
}

class StepOfStrategy : public testing::TestWithParam<std::string> {};

TEST_P(StepOfStrategy, AllocatesNothingWithClippedGradients) {
  const Model model = small_model("vgg11");
  const Layout layout = build_layout(model);
  ThreadTeam team(2);
  FlatBuffer values = made_up_values(layout);
  FlatBuffer statistics(build_statistics_layout(model));
  Network network(model, layout, {.most_samples = Microbatches::most_samples(kBatch, 3)},
                  team);
  Microbatches microbatches(network, layout, all_microbatches(3), team);
  const auto optimizer = make_optimizer("adamw", layout, {}, team);
  ClipNorm clip(layout, {}, team);
  AloneComm comm;
  AsyncComm async(comm);
  const ReductionOrder order(/*microbatches=*/3, /*ranks=*/1);
  const auto strategy = make_strategy(
      GetParam(),
      {layout, network.statistics_layout(), values, statistics, microbatches.gradients(),
       microbatches.batch_stats(), *optimizer, &clip},
      {comm, async, order}, {.bucket_bytes = 1000});
  const MadeUpBatch batch(model, kBatch);
  strategy->begin();

  long before = 0;
  for (std::uint32_t step = 0; step < 3; ++step) {
    if (step == 1) before = allocations;  // the first one warms up
    optimizer->start_step(step, {.rate = 0.01, .momentum = 0.9});
    microbatches.run(batch.samples(), values, {.step = step}, *strategy);
    strategy->step();
    microbatches.update_running_stats(kBatch, statistics);
  }
  const long after = allocations;

  EXPECT_EQ(after - before, 0);
}

INSTANTIATE_TEST_SUITE_P(Registered, StepOfStrategy, testing::ValuesIn(strategy_names()),
                         [](const auto& info) { return info.param; });

/// Two ranks as threads, whose allocations are counted together.
TEST(StepOfFsdp, AllocatesNothingThroughSharedMemory) {
  const Model model = small_model("vgg11");
  const Layout layout = build_layout(model);
  std::atomic<long> allocated = 0;
  const auto body = [&](Comm& comm) {
    ThreadTeam team(1);
    FlatBuffer values = made_up_values(layout);
    FlatBuffer statistics(build_statistics_layout(model));
    const ReductionOrder order(/*microbatches=*/4, /*ranks=*/2, Deal::in_turn);
    const MicrobatchPart part = order.microbatches_of(comm.rank());
    Network network(model, layout, {.most_samples = kBatch}, team);
    Microbatches microbatches(network, layout, part, team);
    const auto optimizer = make_optimizer("adamw", layout, {}, team);
    ClipNorm clip(layout, {}, team);
    AsyncComm async(comm);
    const auto strategy = make_strategy(
        "fsdp",
        {layout, network.statistics_layout(), values, statistics,
         microbatches.gradients(), microbatches.batch_stats(), *optimizer, &clip},
        {comm, async, order}, {});
    const MadeUpBatch batch(model, kBatch);
    const Samples own = batch.samples().part({0, part.sample_count(kBatch)});
    strategy->begin();
    long before = 0;
    for (std::uint32_t step = 0; step < 4; ++step) {
      comm.barrier();
      if (step == 1) before = allocations;
      comm.barrier();
      optimizer->start_step(step, {.rate = 0.01, .momentum = 0.9});
      microbatches.run({own, kBatch}, values, {.step = step}, *strategy);
      strategy->step();
    }
    comm.barrier();
    allocated = std::max(allocated.load(), allocations - before);
    comm.barrier();
  };
  run_ranks(2, body, Transport::shared);
  EXPECT_EQ(allocated, 0);
}

TEST_P(Step, AllocatesNothingWhenEvaluating) {
  const Model model = small_model(GetParam());
  const Layout layout = build_layout(model);
  const FlatBuffer values = made_up_values(layout);
  const MadeUpBatch batch(model, kBatch);
  ThreadTeam team(2);
  const FlatBuffer statistics(build_statistics_layout(model));
  Network network(model, layout,
                  {.most_samples = kBatch, .training = false, .statistics = &statistics},
                  team);
  PassListener nobody;

  network.forward(batch.samples(), values, {}, nobody);
  const long before = allocations;
  network.forward(batch.samples(), values, {}, nobody);
  network.forward(batch.samples().part({0, 3}), values, {}, nobody);
  const long after = allocations;

  EXPECT_EQ(after - before, 0);
}

INSTANTIATE_TEST_SUITE_P(Models, Step, testing::ValuesIn(names_of_all()),
                         [](const auto& info) { return info.param; });

TEST(AllocationCount, SeesAnAllocation) {
  const long before = allocations;

  const std::vector<int> numbers(1000, 1);
  const AlignedBuffer<float> buffer(10);

  EXPECT_EQ(allocations - before, 2) << numbers.size() + buffer.size();
}

}  // namespace
}  // namespace convoy
