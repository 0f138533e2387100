// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/commands.h"
#include "convoy/base/json.h"
#include "convoy/base/text.h"
#include "convoy/benchmarks/collective_bench.h"

namespace convoy {
namespace {

using json = nlohmann::ordered_json;

const std::map<std::string, Transport> kTransports = {{"auto", Transport::automatic},
                                                      {"tcp", Transport::tcp},
                                                      {"shared", Transport::shared}};

struct CollectiveArguments {
  CollectiveBenchOptions options;
  std::string transport = "auto";
  bool as_json = false;

  void add_to(CLI::App& command) {
    command.add_option("--ranks", options.ranks, "number of ranks (2)")
        ->check(CLI::Range(2, 32));
    command.add_option("--transport", transport, "auto, tcp or shared (auto)")
        ->check(CLI::IsMember(kTransports));
    command
        .add_option("--bytes", options.bytes, "message sizes in bytes (4 KiB to 64 MiB)")
        ->check(CLI::Range(std::size_t{4}, std::size_t{1} << 32))
        ->delimiter(',');
    command.add_option("--seconds", options.seconds, "measuring time per size (0.5)")
        ->check(CLI::Range(0.0, 3600.0));
    command.add_flag("--threads", options.threads,
                     "run ranks as threads instead of processes");
    command.add_flag("--json", as_json, "print one JSON object");
  }
};

void print_json(const CollectiveArguments& arguments,
                const std::vector<CollectiveRow>& rows) {
  json list = json::array();
  for (const CollectiveRow& row : rows) {
    list.push_back({{"bytes", row.bytes},
                    {"p50_us", row.ours.p50_us},
                    {"gb_per_s", row.ours.gb_per_s},
                    {"gloo_p50_us", row.gloo.p50_us},
                    {"gloo_gb_per_s", row.gloo.gb_per_s},
                    {"samples", row.samples}});
  }
  const json object = {{"operation", "all_reduce"},
                       {"ranks", arguments.options.ranks},
                       {"ranks_are", arguments.options.threads ? "threads" : "processes"},
                       {"transport", arguments.transport},
                       {"rows", list}};
  fmt::print("{}\n", json_text(object));
}

void print_text(const CollectiveArguments& arguments,
                const std::vector<CollectiveRow>& rows) {
  fmt::print("all-reduce, {} {}, transport {}; Gloo's own over TCP\n\n",
             arguments.options.ranks, arguments.options.threads ? "threads" : "processes",
             arguments.transport);
  fmt::print("{:>12} {:>11} {:>8} {:>11} {:>10} {:>7} {:>8}\n", "bytes", "p50 us", "GB/s",
             "Gloo p50", "Gloo GB/s", "ratio", "samples");
  for (const CollectiveRow& row : rows) {
    fmt::print("{:>12} {:>11.1f} {:>8.2f} {:>11.1f} {:>10.2f} {:>6.1f}x {:>8}\n",
               with_commas(row.bytes), row.ours.p50_us, row.ours.gb_per_s,
               row.gloo.p50_us, row.gloo.gb_per_s, row.gloo.p50_us / row.ours.p50_us,
               row.samples);
  }
}

ExitCode bench(CollectiveArguments& arguments) {
  arguments.options.transport = kTransports.at(arguments.transport);
  const std::vector<CollectiveRow> rows = bench_collective(arguments.options);
  if (arguments.as_json) {
    print_json(arguments, rows);
  } else {
    print_text(arguments, rows);
  }
  return ExitCode::done;
}

}  // namespace

void add_bench_collective(CLI::App& bench_command, Action& action) {
  auto arguments = std::make_shared<CollectiveArguments>();
  CLI::App* command = bench_command.add_subcommand(
      "collective",
      "Time an all-reduce between ranks of this machine, compared with Gloo's");
  command->footer(
      "Examples:\n  convoy bench collective\n"
      "  convoy bench collective --ranks 4 --transport tcp --json\n"
      "  convoy bench collective --bytes 4096,36900000\n");
  arguments->add_to(*command);
  command->callback(
      [arguments, &action] { action = [arguments] { return bench(*arguments); }; });
}

}  // namespace convoy
