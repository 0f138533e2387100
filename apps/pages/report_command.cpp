// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <memory>

#include "apps/commands.h"
#include "apps/pictures.h"
#include "convoy/base/printable.h"
#include "convoy/pages/report.h"
#include "convoy/pages/web_files.h"

namespace convoy {
namespace {

struct ReportArguments {
  std::vector<std::filesystem::path> runs;
  std::filesystem::path out, pictures;
};

ExitCode report(const ReportArguments& arguments) {
  const bool draws = !arguments.pictures.empty() && can_draw();
  const WrittenReport written =
      write_report({.runs = arguments.runs,
                    .out = arguments.out,
                    .pictures = draws ? arguments.pictures : ""});
  fmt::print("report    {}\n", printable(written.page.string()));
  if (chart_library().empty()) fmt::print("          {}\n", kNoCharts);
  if (draws) {
    fmt::print("pictures  {} files in {}\n", written.pictures.size(),
               printable(arguments.pictures.string()));
  }
  return ExitCode::done;
}

}  // namespace

void add_report_command(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<ReportArguments>();
  CLI::App* command =
      app.add_subcommand("report", "Write a page that shows a run, or compares several");
  command->footer(
      "The page is one HTML file that loads nothing: it opens from a disk or a mail.\n\n"
      "Examples:\n"
      "  convoy report runs/NAME                   writes runs/NAME/report.html\n"
      "  convoy report runs/a runs/b -o both.html  compares them\n"
      "  convoy report runs                        all runs of a folder, such as a "
      "sweep's\n");
  command
      ->add_option("runs", arguments->runs, "run folders, or folders that contain runs")
      ->required();
  command->add_option("-o,--out", arguments->out,
                      "the file (default: report.html in the first folder)");
  command->add_option("--pictures", arguments->pictures,
                      "folder for PNG and SVG files of every chart");
  command->callback(
      [arguments, &action] { action = [arguments] { return report(*arguments); }; });
}

}  // namespace convoy
