// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/commands.h"
#include "convoy/base/json.h"
#include "convoy/base/text.h"
#include "convoy/benchmarks/loader_bench.h"
#include "convoy/benchmarks/step_bench.h"

namespace convoy {
namespace {

struct BenchArguments {
  SettingArguments settings;
  StepBenchOptions options;
  bool as_json = false;
  bool layers = false;

  void add_to(CLI::App& command) {
    add_setting_flags(command, settings);
    command.add_option("--seconds", options.seconds, "measuring time in seconds (2)")
        ->check(CLI::Range(0.01, 3600.0));
    command.add_flag("--json", as_json, "print one JSON object");
  }
};

using json = nlohmann::ordered_json;

double slower_probe(const StepBenchResult& result) {
  return std::min(result.probe_before_gflops, result.probe_after_gflops);
}

json layers_json(const StepBenchResult& result) {
  json layers = json::array();
  for (std::size_t i = 0; i < result.stages.size(); ++i) {
    const StageReport& stage = result.stages[i];
    layers.push_back({{"stage", stage.name},
                      {"output", {stage.dst.channels, stage.dst.height, stage.dst.width}},
                      {"forward_ms", stage.forward_seconds * 1e3},
                      {"backward_ms", stage.backward_seconds * 1e3},
                      {"forward_flops", stage.flops},
                      {"real_forward_flops", stage.real_flops},
                      {"forward_bytes", result.stage_bytes[i].forward},
                      {"backward_bytes", result.stage_bytes[i].backward}});
  }
  return layers;
}

void print_json(const StepBenchResult& result, bool layers) {
  json object = {
      {"model", result.model},
      {"batch_size", result.batch_size},
      {"threads", result.threads},
      {"microbatches", result.microbatches},
      {"lanes", result.microbatches},  // its former name
      {"kernels", result.kernels},
      {"steps", result.steps},
      {"step_ms",
       {{"p50", result.p50_ms}, {"p90", result.p90_ms}, {"min", result.min_ms}}},
      {"images_per_second", result.images_per_second},
      {"gflops", {{"effective", result.effective_gflops}, {"real", result.real_gflops}}},
      {"probe_gflops", slower_probe(result)},
      {"probe_gflops_before", result.probe_before_gflops},
      {"probe_gflops_after", result.probe_after_gflops},
      {"probe_vectors", result.probe_vectors},
      {"bandwidth_gb_per_s",
       {{"one_thread", result.bandwidth.one_thread},
        {"all_threads", result.bandwidth.all_threads}}},
      {"activation_bytes", result.arena_bytes},
      {"peak_rss_bytes", result.peak_bytes}};
  if (layers) object["layers"] = layers_json(result);
  fmt::print("{}\n", json_text(object));
}

/// Effective: the FLOPs of direct convolution, divided by the time. Real: the FLOPs that
/// were computed.
std::string speed_columns(const StepBenchResult& result, std::size_t number) {
  const StageReport& stage = result.stages[number];
  if (stage.flops == 0) return fmt::format("{:>10} {:>10} {:>8}", "", "", "");
  const double seconds = stage.forward_seconds + stage.backward_seconds;
  const double passes = passes_of_stage(number) * result.batch_size / seconds / 1e9;
  const double real = passes * static_cast<double>(stage.real_flops);
  return fmt::format("{:>10.0f} {:>10.0f} {:>6.0f} %",
                     passes * static_cast<double>(stage.flops), real,
                     100 * real / slower_probe(result));
}

/// What one pass must move at least, and how fast that was.
std::string memory_columns(double bytes, double seconds, const Bandwidth& bandwidth) {
  const double gigabytes = bytes / seconds / 1e9;
  return fmt::format("{:>8.2f} {:>7.0f} %", bytes / 1e6,
                     100 * gigabytes / bandwidth.all_threads);
}

void print_layers(const StepBenchResult& result) {
  fmt::print(
      "\n{:<24} {:>12} {:>10} {:>11} {:>10} {:>10} {:>8} {:>8} {:>9} {:>8} {:>9}\n",
      "stage", "output", "forward ms", "backward ms", "effective", "real", "of probe",
      "fwd MB", "of memory", "bwd MB", "of memory");
  for (std::size_t i = 0; i < result.stages.size(); ++i) {
    const StageReport& stage = result.stages[i];
    const StageBytes& bytes = result.stage_bytes[i];
    const std::string output =
        fmt::format("{}x{}x{}", stage.dst.channels, stage.dst.height, stage.dst.width);
    fmt::print("{:<24} {:>12} {:>10.3f} {:>11.3f} {} {} {}\n", stage.name, output,
               stage.forward_seconds * 1e3, stage.backward_seconds * 1e3,
               speed_columns(result, i),
               memory_columns(bytes.forward, stage.forward_seconds, result.bandwidth),
               memory_columns(bytes.backward, stage.backward_seconds, result.bandwidth));
  }
  fmt::print(
      "\nMB: what a stage must move at least. Caches give more than 100 % of memory.\n");
}

void print_text(const StepBenchResult& result) {
  fmt::print("{}, batch {}, {} threads, {} micro-batches, {} kernels, {} steps\n",
             result.model, result.batch_size, result.threads, result.microbatches,
             result.kernels, result.steps);
  fmt::print("step      p50 {:.3f} ms   p90 {:.3f} ms   min {:.3f} ms\n", result.p50_ms,
             result.p90_ms, result.min_ms);
  fmt::print("images/s  {}\n",
             with_commas(static_cast<std::uint64_t>(result.images_per_second)));
  fmt::print(
      "speed     {:.0f} GFLOP/s counted as direct convolution, {:.0f} computed: {:.0f} % "
      "of the "
      "probe\n",
      result.effective_gflops, result.real_gflops,
      100 * result.real_gflops / slower_probe(result));
  fmt::print("FMA probe {:.0f} GFLOP/s before, {:.0f} after, in {} vectors\n",
             result.probe_before_gflops, result.probe_after_gflops, result.probe_vectors);
  fmt::print("memory    {:.1f} GB/s on 1 thread, {:.1f} on {}, read and written\n",
             result.bandwidth.one_thread, result.bandwidth.all_threads, result.threads);
}

ExitCode bench(const BenchArguments& arguments) {
  StepBenchOptions options = arguments.options;
  options.bandwidth = true;
  const StepBenchResult result = bench_step(arguments.settings.resolve(), options);
  if (arguments.as_json) {
    print_json(result, arguments.layers);
    return ExitCode::done;
  }
  print_text(result);
  if (arguments.layers) print_layers(result);
  return ExitCode::done;
}

json difference_json(const DecodeDifference& difference) {
  return {{"mean", difference.mean}, {"largest", difference.largest}};
}

std::string difference_text(const DecodeDifference& difference) {
  return fmt::format("{:.2f} levels of 255 away, at most {}", difference.mean,
                     difference.largest);
}

ExitCode bench_the_loader(const BenchArguments& arguments) {
  const Settings settings = arguments.settings.resolve();
  const LoaderBenchResult result = bench_loader(settings, arguments.options.seconds);
  if (arguments.as_json) {
    const json object = {{"data", settings.data.name},
                         {"augment", choice_name(settings.train.augment)},
                         {"batch_size", settings.train.batch_size},
                         {"images", result.images},
                         {"image_us", result.image_us},
                         {"core_us", result.core_us},
                         {"decode_us", result.decode_us},
                         {"threads", result.threads},
                         {"crop_difference", difference_json(result.crops)},
                         {"centre_difference", difference_json(result.centres)},
                         {"images_per_second", result.images_per_second}};
    fmt::print("{}\n", json_text(object));
    return ExitCode::done;
  }
  fmt::print("{}, augment {}, batch {}, {} images\n", settings.data.name,
             choice_name(settings.train.augment), settings.train.batch_size,
             with_commas(result.images));
  fmt::print("image     {:.2f} us\n", result.image_us);
  if (result.decode_us > 0) {
    fmt::print(
        "one core  {:.0f} us per image, {:.0f} images/s; decoding alone {:.0f} us\n",
        result.core_us, 1e6 / result.core_us, result.decode_us);
    fmt::print("threads   {}\n", result.threads);
  }
  if (settings.data.decode == DecodeChoice::fast) {
    fmt::print("exact     {} in random crops, {} in centres\n",
               difference_text(result.crops), difference_text(result.centres));
  }
  fmt::print("images/s  {}\n",
             with_commas(static_cast<std::uint64_t>(result.images_per_second)));
  return ExitCode::done;
}

void add_bench_loader(CLI::App& bench, Action& action) {
  auto arguments = std::make_shared<BenchArguments>();
  CLI::App* loader = bench.add_subcommand(
      "loader", "Measure how many images per second the loader prepares");
  loader->footer(
      "Examples:\n  convoy bench loader data=fashion_mnist\n"
      "  convoy bench loader data=synthetic train.augment=crop_flip --json\n"
      "  convoy bench loader experiment=imagenet_resnet18 data.root=/data/imagenet\n");
  arguments->add_to(*loader);
  loader->callback([arguments, &action] {
    action = [arguments] { return bench_the_loader(*arguments); };
  });
}

}  // namespace

void add_bench_command(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<BenchArguments>();
  CLI::App* command = app.add_subcommand("bench", "Measure the speed of this machine");
  command->require_subcommand(1);
  command->footer(
      "Examples:\n  convoy bench step model=lenet5\n  convoy bench loader\n"
      "  convoy bench collective\n");
  CLI::App* step = command->add_subcommand(
      "step", "Time a training step on synthetic images; data settings are ignored");
  step->footer(
      "Examples:\n  convoy bench step model=lenet5 train.batch_size=64\n"
      "  convoy bench step model=cnn1 cluster.threads=1 --json\n"
      "  convoy bench step model=resnet18 --image 32 --layers\n");
  arguments->add_to(*step);
  step->add_flag("--layers", arguments->layers, "also print the times of every stage");
  step->add_option("--image", arguments->options.image,
                   "height and width of the images (the model's default)")
      ->check(CLI::Range(1, 4096));
  step->callback(
      [arguments, &action] { action = [arguments] { return bench(*arguments); }; });
  add_bench_loader(*command, action);
  add_bench_collective(*command, action);
}

}  // namespace convoy
