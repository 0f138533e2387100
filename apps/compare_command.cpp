// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "apps/commands.h"
#include "apps/pictures.h"
#include "convoy/base/json.h"
#include "convoy/base/printable.h"
#include "convoy/compare/comparison_report.h"
#include "convoy/monitor/progress.h"
#include "convoy/plot/plot.h"

namespace convoy {
namespace {

struct CompareArguments {
  std::vector<std::filesystem::path> runs;
  std::optional<double> target;
  bool markdown = false, json = false;
  std::filesystem::path picture;
};

std::vector<RunRecord> read_all(const std::vector<std::filesystem::path>& paths) {
  std::vector<RunRecord> runs;
  for (const std::filesystem::path& path : paths) {
    for (const std::filesystem::path& folder : find_runs(path)) {
      runs.push_back(read_run_record(folder));
    }
  }
  return runs;
}

std::string comparison_text(const Comparison& comparison,
                            const CompareArguments& arguments) {
  if (arguments.json) {
    return json_text(comparison_json(comparison), 2) + "\n";
  }
  const std::string notes = comparison_notes(comparison);
  const std::string below = notes.empty() ? "" : "\n" + notes;
  if (arguments.markdown) {
    return markdown_table(comparison_columns(comparison, /*short_names=*/false)) + below;
  }
  const auto width = static_cast<std::size_t>(terminal_width(stdout));
  return text_table(comparison_columns(comparison, /*short_names=*/true), width) + below;
}

ExitCode compare(const CompareArguments& arguments) {
  const Comparison comparison = compare_runs(read_all(arguments.runs), arguments.target);
  fmt::print("{}", printable(comparison_text(comparison, arguments)));
  if (!arguments.picture.empty() && can_draw()) {
    draw(comparison_chart(comparison), arguments.picture);
  }
  return ExitCode::done;
}

}  // namespace

void add_compare_command(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<CompareArguments>();
  CLI::App* command = app.add_subcommand(
      "compare", "Compare runs: differing settings, accuracy, time, speed, memory");
  command->footer(
      "Times are training times: evaluations are left out. The speed-up is that of "
      "images "
      "per second,\nwith --target that of the time to it. Steps are timed without the "
      "first one.\n\n"
      "Examples:\n"
      "  convoy compare runs/single runs/gather_scatter runs/all_reduce runs/ddp\n"
      "  convoy compare runs                       all runs in a folder, such as a "
      "sweep's\n"
      "  convoy compare runs/a runs/b --target 0.9 the time to an accuracy of 90 %\n"
      "  convoy compare runs --markdown            the table for a document\n"
      "  convoy compare runs --json --picture curves.png\n");
  command
      ->add_option("runs", arguments->runs, "run folders, or folders that contain runs")
      ->required();
  command
      ->add_option("--target", arguments->target,
                   "an accuracy, such as 0.9: the time until an evaluation reached it")
      ->check(CLI::Range(0.0, 1.0));
  command->add_option("--picture", arguments->picture,
                      "PNG or SVG file: accuracy by training time");
  CLI::Option* markdown =
      command->add_flag("--markdown", arguments->markdown, "print Markdown");
  command->add_flag("--json", arguments->json, "print JSON")->excludes(markdown);
  command->callback(
      [arguments, &action] { action = [arguments] { return compare(*arguments); }; });
}

}  // namespace convoy
