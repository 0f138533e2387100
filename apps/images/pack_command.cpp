// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <map>
#include <memory>

#include "apps/commands.h"
#include "convoy/base/printable.h"
#include "convoy/base/text.h"
#include "convoy/monitor/progress.h"
#include "convoy/pack/pack.h"
#include "convoy/setup/workload.h"
#include "convoy/system/stop_request.h"

namespace convoy {
namespace {

struct PackArguments {
  PackOptions options;
  SettingArguments settings;
};

void print_result(const PackResult& result, const PackOptions& options) {
  for (const std::string& file : result.left_out) {
    fmt::print(stderr, "convoy: left out: {}\n", printable(file));
  }
  const std::string file = printable(options.file.string());
  if (!result.complete) {
    fmt::print(stderr, "convoy: stopped; the same command continues {}\n", file);
    return;
  }
  if (result.resumed > 0) {
    fmt::print("continued after {} images\n", with_commas(result.resumed));
  }
  fmt::print("{}: {} training and {} validation images, {}, verified\n", file,
             with_commas(result.train), with_commas(result.val),
             human_bytes(result.bytes));
}

ExitCode pack(PackArguments arguments) {
  const Settings settings = arguments.settings.resolve();
  PackOptions& options = arguments.options;
  options.threads = thread_count(settings);
  options.skip_damaged = settings.data.corrupt == CorruptChoice::skip;
  const bool terminal = is_terminal(stderr);
  options.progress = [&](std::size_t done, std::size_t all) {
    if (terminal) {
      fmt::print(stderr, "\r\x1b[K{} of {} images", with_commas(done), with_commas(all));
    }
  };
  const DataPair data = load_whole_data(settings);
  // Until here there is nothing to continue: a signal ends the process.
  const StopRequest stop;
  options.should_stop = [&] { return stop.signal() != 0; };
  const PackResult result = pack_data(data, options);
  if (terminal) fmt::print(stderr, "\r\x1b[K");
  print_result(result, options);
  return result.complete ? ExitCode::done : ExitCode::stopped;
}

}  // namespace

void add_pack_command(CLI::App& data_command, Action& action) {
  auto arguments = std::make_shared<PackArguments>();
  PackOptions& options = arguments->options;
  CLI::App* command = data_command.add_subcommand(
      "pack", "Write a dataset into one file of images, resized once");
  command->footer(
      "Train from it with data=packed data.root=FILE. Interrupted, the same command "
      "continues. data.corrupt=skip leaves out files that cannot be decoded.\n\n"
      "Examples:\n"
      "  convoy data pack --out imagenet.pack data=imagefolder data.root=/data/imagenet\n"
      "  convoy data pack --out small.pack --short-side 256 --as raw data=imagefolder "
      "data.root=/data/imagenet\n");
  command->add_option("--out", options.file, "the file to write")->required();
  command
      ->add_option("--short-side", options.images.short_side,
                   "shorter side to which larger images are resized (none are resized)")
      ->check(CLI::Range(1, 8192));
  const std::map<std::string, PackedAs> kinds{{"jpeg", PackedAs::jpeg},
                                              {"raw", PackedAs::raw}};
  command
      ->add_option("--as", options.images.as,
                   "jpeg (files that are not resized stay as they are), or raw pixels")
      ->transform(CLI::CheckedTransformer(kinds));
  command
      ->add_option("--quality", options.images.quality,
                   "of JPEGs of resized images, from 1 to 100 (90)")
      ->check(CLI::Range(1, 100));
  add_setting_flags(*command, arguments->settings);
  command->callback(
      [arguments, &action] { action = [arguments] { return pack(*arguments); }; });
}

}  // namespace convoy
