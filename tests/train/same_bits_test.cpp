// SPDX-License-Identifier: Apache-2.0
//
// The same micro-batches end at the same bits: with every strategy, on any number of
// ranks and threads, as with one rank alone. Strategies join by being registered;
// ps_sync, whose updates servers make, is here as well. Each within each precision.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "convoy/comm/alone_comm.h"
#include "convoy/strategy/registry.h"
#include "convoy/system/stop_request.h"
#include "convoy/train/outcome.h"
#include "convoy/train/trainer.h"
#include "tests/comm/thread_ranks.h"
#include "tests/ps/served_job.h"
#include "tests/train/small_settings.h"

namespace convoy {
namespace {

struct Case {
  std::string model;
  std::string strategy = "single";
  int ranks = 1;
  int threads = 1;
  int microbatches = 4;
  Transport transport = Transport::tcp;
  bool recipe = false;  // with clipped gradients, AdamW, and an average of epochs
  std::string partition = "iid";
  std::string freeze{};
  std::string precision = "fp32";  // or the type in which fp32 gradients are exchanged
};

void set_precision(const std::string& precision, Settings& settings) {
  if (const auto choice = find_choice<PrecisionChoice>(precision)) {
    settings.precision.name = *choice;
  } else {
    settings.ddp.compress =
        precision == "to_fp16" ? CompressChoice::fp16 : CompressChoice::bf16;
  }
}

void add_recipe(Settings& settings) {
  settings.optimizer.name = OptimizerChoice::adamw;
  settings.optimizer.lr = 0.001;
  settings.optimizer.weight_decay = 0.01;
  settings.optimizer.clip_norm = 0.5;  // shorter than any gradient of these runs
  settings.train.swa_start = 1;
}

void add_fine_tuning(const std::string& freeze, Settings& settings) {
  settings.train.freeze = freeze;
  settings.optimizer.groups = "*.bias:lr=0.5,weight_decay=0;fc*.weight:weight_decay=0.1";
  settings.optimizer.layer_decay = 0.9;
}

/// Two epochs of three steps, or one of two, the last of which leaves a micro-batch
/// without samples.
Settings settings_of(const Case& run) {
  const bool large = run.model == "vgg11";
  Settings settings = small_settings(large ? 19 : 35, 9, 16, run.threads);
  settings.model.name = run.model;
  set_small_images(run.model, settings);
  settings.data.partition = find_choice<PartitionChoice>(run.partition).value();
  settings.train.epochs = large ? 1 : 2;
  settings.train.microbatches = run.microbatches;
  settings.train.augment = AugmentChoice::crop_flip;
  settings.strategy.name = find_choice<StrategyChoice>(run.strategy).value();
  settings.ddp.bucket_mb = 0.1;  // so that there are several
  set_precision(run.precision, settings);
  if (run.recipe) add_recipe(settings);
  if (!run.freeze.empty()) add_fine_tuning(run.freeze, settings);
  return settings;
}

struct Ending {
  std::string weights;
  double train_loss = 0, test_loss = 0;

  bool operator==(const Ending&) const = default;
};

Ending train_alike(const Settings& settings, Comm& comm, const StopRequest& stop) {
  Trainer trainer(settings, comm);
  const Outcome outcome = trainer.train(nullptr, nullptr, stop, "");
  return {outcome.weights_sha256, outcome.train.loss, outcome.test->sum.loss};
}

/// One rank alone, of each model, number of micro-batches, recipe, partition and what is
/// frozen once.
const Ending& alone(const Case& run, const StopRequest& stop) {
  using Key = std::tuple<std::string, int, bool, std::string, std::string, std::string>;
  static std::map<Key, Ending> known;
  const auto [ending, is_new] =
      known.try_emplace({run.model, run.microbatches, run.recipe, run.partition,
                         run.freeze, run.precision});
  if (is_new) {
    AloneComm comm;
    const Case of_one = {.model = run.model,
                         .microbatches = run.microbatches,
                         .recipe = run.recipe,
                         .partition = run.partition,
                         .freeze = run.freeze,
                         .precision = run.precision};
    ending->second = train_alike(settings_of(of_one), comm, stop);
  }
  return ending->second;
}

class EndsAtTheSameBits : public testing::TestWithParam<Case> {};

TEST_P(EndsAtTheSameBits, AsOneRankAlone) {
  const StopRequest stop;
  const Ending& expected = alone(GetParam(), stop);
  const Settings settings = settings_of(GetParam());

  run_ranks(
      GetParam().ranks,
      [&](Comm& comm) {
        const Ending found = train_alike(settings, comm, stop);
        EXPECT_EQ(found.weights, expected.weights) << "rank " << comm.rank();
        EXPECT_EQ(found.train_loss, expected.train_loss) << "rank " << comm.rank();
        EXPECT_EQ(found.test_loss, expected.test_loss) << "rank " << comm.rank();
      },
      GetParam().transport);
}

// As where machines have different processors.
TEST(EndsAtTheSameBitsAsOneRankAlone, WithOtherKernelsOnEachRank) {
  const StopRequest stop;
  for (const char* model : {"lenet5", "vgg11", "vit_cifar", "mobilenet_v3_small"}) {
    const Case run = {.model = model, .strategy = "ddp", .ranks = 2};
    const Ending& expected = alone(run, stop);

    run_ranks(2, [&](Comm& comm) {
      Settings settings = settings_of(run);
      if (!comm.is_first()) settings.network.kernels = KernelsChoice::reference;
      EXPECT_EQ(train_alike(settings, comm, stop), expected)
          << model << ", rank " << comm.rank();
    });
  }
}

constexpr const char* kPrecisions[] = {"amp_o2", "bf16", "to_fp16", "to_bf16"};

TEST(EndsAtTheSameBitsAsOneRankAlone, WithOtherKernelsInEveryPrecision) {
  const StopRequest stop;
  for (const char* precision : kPrecisions) {
    const Case run = {.model = "vit_cifar", .precision = precision};
    Settings settings = settings_of(run);
    settings.network.kernels = KernelsChoice::reference;
    AloneComm comm;
    EXPECT_EQ(train_alike(settings, comm, stop), alone(run, stop)) << precision;
  }
}

/// One epoch of one step, since plain loops take long.
Settings settings_with_products(Products products, const std::string& model) {
  Settings settings = settings_of({.model = model, .precision = "bf16"});
  settings.network.kernels =
      find_choice<KernelsChoice>(name_of(available_kernel_sets(products).back())).value();
  settings.data.synthetic.train_count = settings.train.batch_size = 7;
  settings.train.microbatches = 3;
  settings.train.epochs = 1;
  return settings;
}

/// Of those that this processor has, each rank uses another.
KernelsChoice kernels_of_rank(Products products, const Comm& comm) {
  const std::vector<KernelSet> sets = available_kernel_sets(products);
  const auto number = static_cast<std::size_t>(comm.rank()) % sets.size();
  return find_choice<KernelsChoice>(name_of(sets[number])).value();
}

class WithBf16Products
    : public testing::TestWithParam<std::tuple<Products, const char*>> {};

/// Linear layers, and attention.
TEST_P(WithBf16Products, EndsAtTheSameBitsAsOneRankAloneNearlyAtTheLossOfOthers) {
  const StopRequest stop;
  const auto [products, model] = GetParam();
  Settings settings = settings_with_products(products, model);
  AloneComm alone;
  const Ending expected = train_alike(settings, alone, stop);

  for (const int ranks : {2, 3}) {
    run_ranks(ranks, [&, products = products](Comm& comm) {
      Settings own = settings;
      own.strategy.name = StrategyChoice::ddp;
      own.cluster.threads = 1 + ranks % 2;
      own.network.kernels = kernels_of_rank(products, comm);
      EXPECT_EQ(train_alike(own, comm, stop), expected)
          << "rank " << comm.rank() << " of " << ranks;
    });
  }
  settings.network.kernels = KernelsChoice::auto_;
  const Ending others = train_alike(settings, alone, stop);
  EXPECT_NE(expected.weights, others.weights);
  EXPECT_NEAR(expected.train_loss / others.train_loss, 1, 0.005);
  EXPECT_NEAR(expected.test_loss / others.test_loss, 1, 0.005);
}

INSTANTIATE_TEST_SUITE_P(Kinds, WithBf16Products,
                         testing::Combine(testing::Values(Products::bf16_dot,
                                                          Products::bf16_amx),
                                          testing::Values("lenet5", "vit_cifar")));

TEST(EndsAtOtherBits, InEveryPrecision) {
  const StopRequest stop;
  std::set<std::string> weights = {alone({.model = "lenet5"}, stop).weights};
  for (const char* precision : kPrecisions) {
    weights.insert(alone({.model = "lenet5", .precision = precision}, stop).weights);
  }
  EXPECT_EQ(weights.size(), 1 + std::size(kPrecisions));
}

TEST(EndsAtOtherBits, WithOtherMicrobatches) {
  const StopRequest stop;
  EXPECT_NE(alone({.model = "vgg11", .microbatches = 4}, stop).weights,
            alone({.model = "vgg11", .microbatches = 5}, stop).weights);
}

TEST(EndsAtOtherBits, WithOtherPartsOfTheData) {
  const StopRequest stop;
  const std::string iid = alone({.model = "lenet5"}, stop).weights;
  const std::string labels =
      alone({.model = "lenet5", .partition = "labels"}, stop).weights;
  const std::string shared =
      alone({.model = "lenet5", .partition = "shared"}, stop).weights;

  EXPECT_NE(labels, iid);
  EXPECT_NE(shared, iid);
  EXPECT_NE(shared, labels);
}

TEST(EndsAtTheBitsOfPlainTraining, WithASingleMicrobatchWhateverThePartition) {
  const StopRequest stop;
  const Ending& iid = alone({.model = "lenet5", .microbatches = 1}, stop);

  for (const char* partition : {"labels", "shared"}) {
    EXPECT_EQ(alone({.model = "lenet5", .microbatches = 1, .partition = partition}, stop),
              iid);
  }
}

TEST(EndsAtOtherBits, WithFrozenParameters) {
  const StopRequest stop;
  EXPECT_NE(alone({.model = "lenet5"}, stop).weights,
            alone({.model = "lenet5", .freeze = "conv1.*"}, stop).weights);
}

/// Whole layers with their batch norms at the beginning and in the middle, and a bias.
constexpr const char* kFrozenParts = "layers.[0-5].*,layers.1[12].*,fc1.bias";

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const std::string& strategy : strategy_names()) {
    if (is_for_one_rank(strategy)) continue;
    for (const int ranks : {1, 2, 3, 4}) {
      for (const int threads : {1, 2}) {
        cases.push_back({"lenet5", strategy, ranks, threads});
      }
      // Of the larger ones every number of ranks and of threads, not all pairs.
      for (const char* model : {"vit_cifar", "mobilenet_v3_small"}) {
        cases.push_back({model, strategy, ranks, /*threads=*/1 + ranks % 2});
      }
    }
    for (const char* model : {"cnn1", "vgg11"}) {
      cases.push_back({model, strategy, /*ranks=*/2, /*threads=*/2});
      cases.push_back({model, strategy, /*ranks=*/4, /*threads=*/1});
    }
    for (const int ranks : {1, 2, 3, 4}) {
      for (const int threads : {1, 2}) {
        cases.push_back({"lenet5", strategy, ranks, threads, 4, Transport::tcp, true});
      }
    }
    for (const char* partition : {"labels", "shared"}) {
      for (const int ranks : {2, 3, 4}) {
        cases.push_back({.model = "lenet5",
                         .strategy = strategy,
                         .ranks = ranks,
                         .partition = partition});
      }
    }
    for (const int ranks : {1, 2, 3}) {
      cases.push_back({.model = "vgg11",
                       .strategy = strategy,
                       .ranks = ranks,
                       .threads = 2,
                       .recipe = ranks == 2,
                       .freeze = kFrozenParts});
    }
    for (const std::string precision : kPrecisions) {
      for (const int ranks : {1, 2, 3, 4}) {
        // With fp32 values and activations, only the sums differ: fewer are enough.
        if (precision.starts_with("to_") && ranks % 3 == 1) continue;
        cases.push_back({.model = "lenet5",
                         .strategy = strategy,
                         .ranks = ranks,
                         .threads = 1 + ranks % 2,
                         .transport = ranks == 2 ? Transport::tcp : Transport::shared,
                         .precision = precision});
      }
    }
    // Depthwise convolutions and squeeze-and-excitation, in 16 bits throughout.
    cases.push_back({.model = "mobilenet_v3_small",
                     .strategy = strategy,
                     .ranks = 3,
                     .threads = 2,
                     .recipe = true,
                     .precision = strategy == "ddp" ? "bf16" : "amp_o2"});
    cases.push_back(
        {"vgg11", strategy, 3, 2, /*microbatches=*/5, Transport::shared, true});
    for (const int ranks : {2, 3}) {
      for (const Transport transport : {Transport::tcp, Transport::shared}) {
        cases.push_back({"vgg11", strategy, ranks, 1, /*microbatches=*/5, transport});
      }
    }
  }
  return cases;
}

std::string name_of_case(const testing::TestParamInfo<Case>& info) {
  const Case& run = info.param;
  return fmt::format("{}_{}_Ranks{}_Threads{}_Microbatches{}{}{}{}{}{}", run.model,
                     run.strategy, run.ranks, run.threads, run.microbatches,
                     run.transport == Transport::shared ? "_Shared" : "",
                     run.recipe ? "_Recipe" : "",
                     run.partition == "iid" ? "" : "_" + run.partition,
                     run.freeze.empty() ? "" : "_Frozen",
                     run.precision == "fp32" ? "" : "_" + run.precision);
}

INSTANTIATE_TEST_SUITE_P(Every, EndsAtTheSameBits, testing::ValuesIn(all_cases()),
                         name_of_case);

struct ServedCase {
  Case run;
  int servers = 1;
};

class ServedEndsAtTheSameBits : public testing::TestWithParam<ServedCase> {};

TEST_P(ServedEndsAtTheSameBits, AsOneRankAlone) {
  const auto& [run, servers] = GetParam();
  const Ending expected = [&] {
    const StopRequest stop;
    return alone(run, stop);
  }();

  const ServedResult found =
      run_served(settings_of(run), {.workers = run.ranks, .servers = servers});

  for (const std::string& weights : found.weights) EXPECT_EQ(weights, expected.weights);
  EXPECT_EQ(found.outcome.train.loss, expected.train_loss);
  EXPECT_EQ(found.outcome.test->sum.loss, expected.test_loss);
  for (const Assignment& ending : found.endings) EXPECT_EQ(ending.code, ExitCode::done);
}

/// Workers 1 to 4, micro-batches that divide evenly or not, one server and two. (Clipping
/// needs a server that sees all gradients.)
std::vector<ServedCase> served_cases() {
  std::vector<ServedCase> cases;
  for (const char* model : {"lenet5", "cnn1"}) {
    for (const int workers : {1, 2, 3, 4}) {
      for (const int microbatches : {4, 5}) {
        for (const int servers : {1, 2}) {
          cases.push_back({{model, "ps_sync", workers, 1, microbatches}, servers});
        }
      }
    }
  }
  for (const char* model : {"vit_cifar", "mobilenet_v3_small"}) {
    for (const int workers : {2, 3, 4}) {
      cases.push_back({{model, "ps_sync", workers, 1 + workers % 2}, 1 + workers % 2});
    }
  }
  for (const int workers : {1, 2, 3, 4}) {
    cases.push_back({{"vgg11", "ps_sync", workers, 1, workers % 2 == 0 ? 4 : 5},
                     workers < 3 ? 2 : 1});
    cases.push_back({{"lenet5", "ps_sync", workers, 2, 4, Transport::tcp, true}});
  }
  for (const int servers : {1, 2, 3}) {
    cases.push_back(
        {{.model = "vgg11", .strategy = "ps_sync", .ranks = 2, .freeze = kFrozenParts},
         servers});
    cases.push_back({{.model = "lenet5",
                      .strategy = "ps_sync",
                      .ranks = 2,
                      .freeze = "conv?.*,fc1.*"},
                     servers});
  }
  for (const char* partition : {"labels", "shared"}) {
    cases.push_back(
        {{.model = "lenet5", .strategy = "ps_sync", .ranks = 3, .partition = partition},
         2});
  }
  for (const char* precision : kPrecisions) {
    for (const int workers : {1, 2, 3, 4}) {
      cases.push_back({{.model = "lenet5",
                        .strategy = "ps_sync",
                        .ranks = workers,
                        .precision = precision},
                       1 + workers % 2});
    }
    cases.push_back({{.model = "vgg11",
                      .strategy = "ps_sync",
                      .ranks = 2,
                      .freeze = kFrozenParts,
                      .precision = precision},
                     2});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(PsSync, ServedEndsAtTheSameBits,
                         testing::ValuesIn(served_cases()),
                         [](const testing::TestParamInfo<ServedCase>& info) {
                           return fmt::format("{}_Servers{}",
                                              name_of_case({info.param.run, info.index}),
                                              info.param.servers);
                         });

}  // namespace
}  // namespace convoy
