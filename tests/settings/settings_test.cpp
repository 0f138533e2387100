// SPDX-License-Identifier: Apache-2.0
//
// Settings as YAML and back; the files of configs/.

#include "convoy/settings/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/settings/settings_compare.h"
#include "convoy/settings/settings_resolve.h"
#include "convoy/settings/settings_schema.h"
#include "convoy/setup/workload.h"
#include "convoy/system/file.h"
#include "convoy/system/temporary_folder.h"
#include "test_places.h"

namespace convoy {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

const fs::path kSource = CONVOY_SOURCE_DIR;

SettingsContext shipped() {
  return {.names = known_names(), .folders = {kSource / "configs"}};
}

/// Written as a run's config.yaml and read again.
Settings written_and_read(const Settings& settings) {
  const TemporaryFolder folder;
  write_atomically(folder.path() / "config.yaml", to_yaml(settings));
  return resolve_settings({}, {folder.path() / "config.yaml"}, shipped());
}

// ---- YAML

TEST(SettingsYaml, IsNestedAndNamesEverySetting) {
  Settings settings;
  settings.optimizer.lr = 1e-5;
  settings.schedule.milestones = {20, 40.5};
  settings.run.dir = "my runs";

  EXPECT_EQ(to_yaml(settings),
            "model:\n"
            "  name: lenet5\n"
            "  init: \"\"\n"
            "data:\n"
            "  name: fashion_mnist\n"
            "  root: \"\"\n"
            "  train: \"\"\n"
            "  val: \"\"\n"
            "  class_names: \"\"\n"
            "  cache_gb: 50\n"
            "  train_fraction: 1\n"
            "  val_fraction: 0\n"
            "  folds: 0\n"
            "  fold: 0\n"
            "  fold_by: order\n"
            "  split: []\n"
            "  split_seed: 42\n"
            "  partition: iid\n"
            "  normalize: all\n"
            "  resize: 0\n"
            "  crop: 224\n"
            "  short_side: 256\n"
            "  decode: exact\n"
            "  corrupt: refuse\n"
            "  workers: 0\n"
            "  mean: []\n"
            "  std: []\n"
            "  synthetic:\n"
            "    channels: 1\n"
            "    height: 28\n"
            "    width: 28\n"
            "    classes: 10\n"
            "    train_count: 10000\n"
            "    test_count: 2000\n"
            "    noise: 0.25\n"
            "    dtype: uint8\n"
            "train:\n"
            "  epochs: 6\n"
            "  max_steps: 0\n"
            "  batch_size: 64\n"
            "  microbatches: 0\n"
            "  recompute: none\n"
            "  seed: 1\n"
            "  log_every: 50\n"
            "  augment: none\n"
            "  color_jitter: []\n"
            "  rand_augment_ops: 2\n"
            "  rand_augment_magnitude: 9\n"
            "  random_erase: 0.1\n"
            "  mixup_alpha: 0.2\n"
            "  cutmix_alpha: 1\n"
            "  label_smoothing: 0\n"
            "  whiten: false\n"
            "  freeze: \"\"\n"
            "  ema: 0\n"
            "  swa_start: 0\n"
            "  patience: 0\n"
            "  min_delta: 0\n"
            "  target_accuracy: 0\n"
            "  min_epochs: 0\n"
            "  max_minutes: 0\n"
            "  stop_epoch: 0\n"
            "  resume: \"\"\n"
            "  resume_force: false\n"
            "optimizer:\n"
            "  name: sgd\n"
            "  lr: 1.0e-05\n"
            "  momentum: 0.9\n"
            "  weight_decay: 0\n"
            "  nesterov: false\n"
            "  decay_norm_and_bias: true\n"
            "  bias_lr_scale: 1\n"
            "  groups: \"\"\n"
            "  layer_decay: 1\n"
            "  beta1: 0.9\n"
            "  beta2: 0.999\n"
            "  eps: 1.0e-08\n"
            "  clip_norm: 0\n"
            "schedule:\n"
            "  name: constant\n"
            "  warmup_epochs: 0\n"
            "  step_epochs: 30\n"
            "  milestones: [20, 40.5]\n"
            "  gamma: 0.1\n"
            "  patience: 10\n"
            "  threshold: 0.0001\n"
            "  cooldown: 0\n"
            "  end_factor: 0.01\n"
            "  min_lr: 0\n"
            "  max_lr: 0\n"
            "  pct_start: 0.3\n"
            "  div_factor: 25\n"
            "  final_div_factor: 10000\n"
            "  anneal: cos\n"
            "  cycle_momentum: true\n"
            "  base_momentum: 0.85\n"
            "  max_momentum: 0.95\n"
            "precision:\n"
            "  name: fp32\n"
            "  init_scale: 65536\n"
            "  growth_interval: 2000\n"
            "strategy:\n"
            "  name: auto\n"
            "ddp:\n"
            "  bucket_mb: 1\n"
            "  compress: none\n"
            "fsdp:\n"
            "  shard: all\n"
            "  reshard_after_forward: true\n"
            "  prefetch: true\n"
            "ps:\n"
            "  servers: 1\n"
            "  compensation: none\n"
            "  lambda: 2\n"
            "  lambda_decay: 0.95\n"
            "  max_staleness: none\n"
            "  scale_rate: false\n"
            "  restarts: 3\n"
            "inject:\n"
            "  delay: none\n"
            "  delay_kind: constant\n"
            "  sigma_ms: 5\n"
            "  pareto_shape: 2.5\n"
            "  on_steps: 20\n"
            "  off_steps: 80\n"
            "  slow_rank: -1\n"
            "  slow_factor: 2\n"
            "  slow_ms: 0\n"
            "sim:\n"
            "  compute_ms: auto\n"
            "  gflops: 50\n"
            "  compute_kind: constant\n"
            "  compute_sigma: 0.1\n"
            "  latency_us: 50\n"
            "  bandwidth_gbps: 10\n"
            "  server_gbps: 0\n"
            "cluster:\n"
            "  nproc_per_node: 0\n"
            "  nnodes: 0\n"
            "  node_rank: -1\n"
            "  master_addr: \"\"\n"
            "  master_port: 0\n"
            "  threads: 0\n"
            "  memory_gib: 0\n"
            "  pin: true\n"
            "  timeout: 300\n"
            "  operation_timeout: 60\n"
            "network:\n"
            "  kernels: auto\n"
            "  winograd: f4\n"
            "checkpoint:\n"
            "  enabled: true\n"
            "  every_epochs: 1\n"
            "  every_steps: 0\n"
            "  keep: 3\n"
            "  saves_per_epoch: 0\n"
            "  best_metric: accuracy\n"
            "  upload: \"\"\n"
            "  upload_deadline: 600\n"
            "eval:\n"
            "  every_epochs: 1\n"
            "  before_training: false\n"
            "  flip: false\n"
            "  shift: 0\n"
            "console:\n"
            "  style: bar\n"
            "run:\n"
            "  dir: \"my runs\"\n"
            "  name: \"\"\n"
            "  tensorboard: true\n"
            "  histograms: 0\n"
            "  resources: true\n"
            "  report: true\n"
            "  logbook: true\n");
}

TEST(SettingsYaml, OfTheDefaultsGivesTheDefaults) {
  EXPECT_EQ(written_and_read(Settings{}), Settings{});
}

TEST(SettingsYaml, GivesTheSameBitsOfOddNumbers) {
  constexpr double tiny = std::numeric_limits<double>::denorm_min();
  for (const double odd : {0.1, 1.0 / 3, 1e-5, 123456789.123456789, 1e22, 1e38, tiny,
                           std::numeric_limits<double>::min(), -0.0, 5e-324, 1e16}) {
    Settings settings;
    settings.optimizer.lr = odd;

    const double read = written_and_read(settings).optimizer.lr;

    EXPECT_EQ(std::bit_cast<std::uint64_t>(read), std::bit_cast<std::uint64_t>(odd))
        << odd;
  }
}

TEST(SettingsYaml, GivesTheSameOddTexts) {
  for (const std::string odd : {"",
                                " ",
                                "~",
                                "null",
                                "true",
                                "no",
                                "1",
                                "1e5",
                                "a: b",
                                "a #b",
                                "#a",
                                "- a",
                                "[a]",
                                "{a}",
                                "*a",
                                "&a",
                                "!a",
                                "%a",
                                "@a",
                                "`a`",
                                "'a'",
                                "\"a\"",
                                "a\\b",
                                "\\x41",
                                "a, b",
                                "? a",
                                "...",
                                "---",
                                "<<",
                                " a ",
                                "Übung",
                                "日本",
                                "\xf0\x9f\x90\x8e",
                                "a\xc2\x85",
                                "\xe2\x80\xa8",
                                "\xef\xbb\xbf",
                                "=",
                                "|",
                                ">"}) {
    Settings settings;
    settings.run.name = odd;
    settings.data.root = odd + "/" + odd;

    EXPECT_EQ(written_and_read(settings), settings) << odd;
  }
}

TEST(SettingsYaml, GivesEverySettingBack) {
  Settings settings;
  settings.model.name = "mlp6";
  settings.data = {.name = "synthetic",
                   .root = "/data",
                   .train_fraction = 0.7,
                   .val_fraction = 0.1,
                   .fold_by = FoldChoice::stratified,
                   .split_seed = 7,
                   .partition = PartitionChoice::labels,
                   .normalize = NormalizeChoice::fixed,
                   .resize = 224,
                   .mean = {125.3 / 255, 123.0 / 255, 1e-5},
                   .std = {63.0 / 255, 62.1 / 255, 1},
                   .synthetic = {.channels = 3,
                                 .height = 32,
                                 .width = 33,
                                 .classes = 7,
                                 .train_count = 100000000,
                                 .test_count = 1,
                                 .noise = 0.123,
                                 .dtype = PixelChoice::float32}};
  settings.train = {.epochs = 2,
                    .max_steps = 3,
                    .batch_size = 8,
                    .microbatches = 0,
                    .seed = std::numeric_limits<std::uint64_t>::max(),
                    .log_every = 4,
                    .augment = AugmentChoice::crop_flip,
                    .label_smoothing = 0.1,
                    .ema = 0.999,
                    .swa_start = 0,
                    .patience = 3,
                    .min_delta = 0.01,
                    .max_minutes = 0.5,
                    .stop_epoch = 1,
                    .resume = "runs/a b",
                    .resume_force = true};
  settings.optimizer = {.name = OptimizerChoice::sgd,
                        .lr = 0.3,
                        .momentum = 0.1,
                        .weight_decay = 5e-4,
                        .nesterov = true,
                        .decay_norm_and_bias = false,
                        .bias_lr_scale = 64,
                        .beta1 = 0.8,
                        .beta2 = 0.99,
                        .eps = 1e-7,
                        .clip_norm = 5};
  settings.schedule = {.name = ScheduleChoice::cosine,
                       .warmup_epochs = 1.5,
                       .step_epochs = 7,
                       .milestones = {1, 2.5},
                       .gamma = 0.2,
                       .patience = 2,
                       .threshold = 0.001,
                       .cooldown = 4,
                       .end_factor = 0.5,
                       .min_lr = 0.01,
                       .max_lr = 2,
                       .pct_start = 0.25,
                       .div_factor = 10,
                       .final_div_factor = 1e6,
                       .anneal = AnnealChoice::linear,
                       .cycle_momentum = false,
                       .base_momentum = 0.8,
                       .max_momentum = 0.9};
  settings.checkpoint = {.every_epochs = 0,
                         .every_steps = 7,
                         .keep = 0,
                         .best_metric = BestMetric::loss,
                         .upload = "s3://bucket/a",
                         .upload_deadline = 5};
  settings.ps = {.servers = 2,
                 .compensation = Compensation::dc_asgd,
                 .lambda = 0.5,
                 .lambda_decay = 0.9,
                 .max_staleness = "4",
                 .scale_rate = true,
                 .restarts = 0};
  settings.inject = {.delay = "12.5",
                     .delay_kind = DelayKind::pareto,
                     .sigma_ms = 1,
                     .pareto_shape = 1.5,
                     .on_steps = 3,
                     .off_steps = 4.5,
                     .slow_rank = 1,
                     .slow_factor = 3};
  settings.sim = {.compute_ms = "7.25",
                  .gflops = 10,
                  .compute_kind = ComputeKind::lognormal,
                  .compute_sigma = 0.5,
                  .latency_us = 5,
                  .bandwidth_gbps = 1,
                  .server_gbps = 40};
  settings.eval = {.every_epochs = 3, .before_training = true, .flip = true, .shift = 1};
  settings.fsdp = {
      .shard = ShardChoice::gradients, .reshard_after_forward = false, .prefetch = false};
  settings.cluster.threads = 2;
  settings.network = {.kernels = KernelsChoice::reference,
                      .winograd = WinogradChoice::f2};
  settings.run = {.dir = "/tmp/a b",
                  .name = "run 1",
                  .tensorboard = false,
                  .histograms = 2,
                  .resources = false};

  EXPECT_EQ(written_and_read(settings), settings);
}

// ---- choices

TEST(SettingChoices, AreFoundByTheirNamesAlone) {
  EXPECT_EQ(choice_names<StrategyChoice>(),
            (std::vector<std::string>{"auto", "single", "gather_scatter", "all_reduce",
                                      "ddp", "fsdp", "ps_sync", "ps_async"}));
  EXPECT_EQ(choice_name(StrategyChoice::auto_), "auto");
  EXPECT_EQ(choice_name(WinogradChoice::off), "off");
  EXPECT_EQ(choice_name(KernelsChoice::avx512_plus_bf16), "avx512+bf16");
  EXPECT_EQ(choice_name(KernelsChoice::reference_plus_amx), "reference+amx");
  EXPECT_EQ(find_choice<StrategyChoice>("auto"), StrategyChoice::auto_);
  EXPECT_EQ(find_choice<BestMetric>("loss"), BestMetric::loss);
  EXPECT_EQ(find_choice<KernelsChoice>("reference+bf16"),
            KernelsChoice::reference_plus_bf16);
  for (const char* name : {"auto_", "", "ps", "ps_async "}) {
    EXPECT_EQ(find_choice<StrategyChoice>(name), std::nullopt) << name;
  }
}

TEST(SettingChoices, ThatYamlWouldTakeForSomethingElseAreQuoted) {
  Settings settings;
  settings.network.winograd = WinogradChoice::off;

  EXPECT_THAT(to_yaml(settings), HasSubstr("  winograd: \"off\"\n"));
  EXPECT_EQ(written_and_read(settings), settings);
}

// ---- shipped files

TEST(ShippedConfigs, AllResolve) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(kSource / "configs" / "experiment")) {
    if (entry.path().extension() != ".yaml") continue;
    EXPECT_NO_THROW(resolve_settings({}, {entry.path()}, shipped())) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 4);
}

TEST(ShippedConfigs, FashionLenet5TrainsSlowlyInSmallBatches) {
  const Settings settings =
      resolve_settings({"experiment=fashion_lenet5"}, {}, shipped());

  EXPECT_EQ(settings.model.name, "lenet5");
  EXPECT_EQ(settings.data.name, "fashion_mnist");
  EXPECT_EQ(settings.optimizer.lr, 0.005);
  EXPECT_EQ(settings.optimizer.momentum, 0.9);
  EXPECT_EQ(settings.train.batch_size, 32);
  EXPECT_EQ(settings.train.epochs, 6);
}

TEST(ShippedConfigs, SyntheticMlp6HasImagesOfCifar10sShape) {
  const Settings settings =
      resolve_settings({"experiment=synthetic_mlp6"}, {}, shipped());

  EXPECT_EQ(settings.model.name, "mlp6");
  EXPECT_EQ(settings.data.name, "synthetic");
  EXPECT_EQ(settings.data.synthetic.channels, 3);
  EXPECT_EQ(settings.data.synthetic.height, 32);
  EXPECT_EQ(settings.data.synthetic.width, 32);
  EXPECT_EQ(settings.data.synthetic.classes, 10);
}

}  // namespace
}  // namespace convoy
