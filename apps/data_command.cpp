// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "apps/commands.h"
#include "apps/pictures.h"
#include "convoy/acquire/get.h"
#include "convoy/base/printable.h"
#include "convoy/base/text.h"
#include "convoy/data/catalog.h"
#include "convoy/data/source.h"
#include "convoy/loader/partition.h"
#include "convoy/monitor/progress.h"
#include "convoy/plot/plot.h"
#include "convoy/report/count_table.h"
#include "convoy/setup/workload.h"

namespace convoy {
namespace {

struct DataArguments {
  std::string name;
  std::string from;
  std::filesystem::path to;
  std::filesystem::path root;
  std::string train, val;  // shards of data=tar
};

/// Of a folder of the user's, unknown.
std::string count_text(std::size_t count) { return count > 0 ? with_commas(count) : "-"; }

ExitCode list() {
  fmt::print("{:<15} {:>8} {:>8} {:>8}  {}\n", "dataset", "image", "train", "test",
             "description; how to get it");
  for (const DataSource& source : data_sources()) {
    fmt::print("{:<15} {:>8} {:>8} {:>8}  {}\n", source.name,
               fmt::format("{}x{}x{}", source.shape.channels, source.shape.height,
                           source.shape.width),
               count_text(source.train.count), count_text(source.test.count),
               source.description);
    if (!source.how_to_get.empty()) fmt::print("{:44}{}\n", "", source.how_to_get);
  }
  return ExitCode::done;
}

ExitCode get(const DataArguments& arguments) {
  const bool terminal = is_terminal(stderr);
  const auto folder = get_data(
      arguments.name,
      {.from = arguments.from,
       .to = arguments.to,
       .progress = [&](const std::string& what, std::size_t done, std::size_t) {
         if (terminal)
           fmt::print(stderr, "\r\x1b[K{} {}", printable(what), human_bytes(done));
       }});
  if (terminal) fmt::print(stderr, "\r\x1b[K");
  if (folder.empty()) {
    fmt::print("{} is generated in memory: there is nothing to get\n", arguments.name);
  } else {
    fmt::print("{} is in {}\n", arguments.name, printable(folder.string()));
  }
  return ExitCode::done;
}

void print_split(const char* name, const SplitCheck& split,
                 const std::vector<std::string>& classes) {
  fmt::print("{:<6} {} samples", name, with_commas(split.count));
  if (!split.channels.empty()) {
    fmt::print(", pixel mean {:.4f}, std {:.4f}", split.pixels.mean,
               split.pixels.deviation);
  }
  fmt::print("\n");
  for (std::size_t i = 0; i < split.channels.size() && split.channels.size() > 1; ++i) {
    fmt::print("       channel {}: mean {:.4f}, std {:.4f}\n", i, split.channels[i].mean,
               split.channels[i].deviation);
  }
  for (std::size_t label = 0; label < classes.size(); ++label) {
    fmt::print("       {:>3} {:<13} {:>8}\n", label, printable(classes[label]),
               with_commas(split.per_class[label]));
  }
}

ExitCode check(const DataArguments& arguments) {
  DataOptions options{.name = arguments.name, .root = arguments.root};
  options.tar = {.train = arguments.train, .val = arguments.val};
  const DataCheck result = check_data(options);
  fmt::print("{} {}\n", result.name,
             result.folder.empty() ? "(generated in memory)"
                                   : "in " + printable(result.folder.string()));
  print_split("train", result.train, result.classes);
  print_split("test", result.test, result.classes);
  fmt::print("{}\n", find_source(arguments.name).is_of_files()
                         ? "all files can be decoded"
                         : "all files are complete and as published");
  return ExitCode::done;
}

struct PartitionArguments {
  SettingArguments settings;
  std::filesystem::path picture;
};

std::vector<std::string> numbers_to(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return names;
}

/// Formats as "4 workers, 60,000 samples in total, ..."
std::string partition_note(const Parts& parts, std::size_t samples) {
  const std::size_t used = parts.samples();
  std::string text = fmt::format(
      "{} worker{}, {} samples in total; smallest part {}, largest {}",
      with_commas(parts.count()), parts.count() == 1 ? "" : "s", with_commas(used),
      with_commas(parts.shortest()), with_commas(parts.longest()));
  if (used < samples) {
    text += fmt::format("; {} of {} left out", with_commas(samples - used),
                        with_commas(samples));
  }
  return text;
}

ExitCode partition(const PartitionArguments& arguments) {
  const Settings settings = arguments.settings.resolve();
  const ClusterSettings& cluster = settings.cluster;
  const Dataset train = load_data_pair(settings).train;
  const Split samples = split_of(settings, train);
  const Parts parts =
      partition_of(settings, train, samples,
                   std::max(1, cluster.nproc_per_node) * std::max(1, cluster.nnodes));
  const std::vector<std::uint64_t> counts = label_counts(train, parts);
  const std::vector<std::string> workers = numbers_to(parts.count());
  const std::string title = fmt::format("{}, data.partition={}", settings.data.name,
                                        choice_name(settings.data.partition));
  const std::string note = partition_note(parts, samples.train.size());
  fmt::print("{}\n\n{}\n{}\n", title,
             printable(count_table_text({"worker", workers, train.classes, counts})),
             note);
  if (arguments.picture.empty() || !can_draw()) return ExitCode::done;
  draw(HeatMap{.head = {.title = title, .note = note},
               .row_axis = "worker",
               .column_axis = "label",
               .rows = workers,
               .columns = train.classes,
               .counts = counts},
       arguments.picture);
  fmt::print("wrote {}\n", printable(arguments.picture.string()));
  return ExitCode::done;
}

void add_partition_command(CLI::App& data_command, Action& action) {
  auto arguments = std::make_shared<PartitionArguments>();
  CLI::App* command = data_command.add_subcommand(
      "partition", "Show the samples per label of each worker");
  command->footer(
      "Examples:\n  convoy data partition data.partition=labels -n 4\n"
      "  convoy data partition data=cifar10 data.partition=labels_unscaled -n 5 "
      "--picture parts.png\n");
  add_setting_flags(*command, arguments->settings);
  command->add_option_function<std::string>(
      "-n,--workers",
      [arguments](const std::string& value) {
        arguments->settings.assignments.push_back("cluster.nproc_per_node=" + value);
      },
      "number of workers (ps_async), or of micro-batches (cluster.nproc_per_node)");
  command->add_option("--picture", arguments->picture,
                      "PNG or SVG file for a picture of the table");
  command->callback(
      [arguments, &action] { action = [arguments] { return partition(*arguments); }; });
}

}  // namespace

void add_data_command(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<DataArguments>();
  CLI::App* command =
      app.add_subcommand("data", "List, get, check, partition and pack datasets");
  command->require_subcommand(1);
  command->footer("Example:\n  convoy data list\n");

  CLI::App* list_command = command->add_subcommand("list", "List the datasets");
  list_command->footer("Example:\n  convoy data list\n");
  list_command->callback([&action] { action = list; });

  CLI::App* get_command = command->add_subcommand(
      "get", "Download or copy a dataset to this machine and verify it");
  get_command->footer(
      "Examples:\n  convoy data get mnist\n"
      "  convoy data get mnist --from /mnt/datasets/mnist\n"
      "  convoy data get mnist --from https://example.org/mnist\n"
      "  convoy data get cifar10 --from cifar-10-binary.tar.gz\n"
      "  convoy data get svhn --from /mnt/datasets/svhn\n");
  get_command->add_option("name", arguments->name, "name of the dataset")->required();
  get_command->add_option("--from", arguments->from,
                          "folder, .tgz, .tar.gz or URL that contains its files, plain "
                          "or .gz");
  get_command->add_option("--to", arguments->to,
                          "destination folder (default: in the user's cache)");
  get_command->callback(
      [arguments, &action] { action = [arguments] { return get(*arguments); }; });

  CLI::App* check_command =
      command->add_subcommand("check", "Check a dataset's files, counts and pixels");
  check_command->footer(
      "Examples:\n  convoy data check fashion_mnist\n"
      "  convoy data check packed --root imagenet.pack\n"
      "  convoy data check tar --train 'train-{000..099}.tar' --val "
      "'val-{00..04}.tar'\n");
  check_command->add_option("name", arguments->name, "name of the dataset")->required();
  check_command->add_option("--root", arguments->root,
                            "folder of its files, or the packed file (default: searched "
                            "for)");
  check_command->add_option(
      "--train", arguments->train,
      "tar: pattern of the training shards, as train-{000..099}.tar");
  check_command->add_option("--val", arguments->val,
                            "tar: pattern of the validation shards");
  check_command->callback(
      [arguments, &action] { action = [arguments] { return check(*arguments); }; });

  add_partition_command(*command, action);
  add_pack_command(*command, action);
}

}  // namespace convoy
