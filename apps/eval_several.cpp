// SPDX-License-Identifier: Apache-2.0

#include "apps/eval_several.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/base/printable.h"
#include "convoy/base/text.h"
#include "convoy/compare/run_record.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

constexpr char kBetweenNames = '\0';  // no path contains it

/// One target's row of the table.
struct EvalRow {
  std::string target;
  ExitCode code = ExitCode::done;
  std::optional<EvaluatedStep> evaluated{};
};

/// Whether an argument is a target and not a setting; "runs/lr=0.1" is a path.
bool names_target(const std::string& argument) {
  const std::size_t equals = argument.find('=');
  return equals == std::string::npos || argument.find('/') < equals;
}

/// The runs in a folder of runs; nothing for a run, a checkpoint or anything else.
std::vector<fs::path> runs_in(const fs::path& folder) {
  std::vector<fs::path> runs = runs_below(folder);
  if (runs == std::vector{folder}) runs.clear();
  return runs;
}

/// Takes the text of the first rank, which may have found other runs in a folder.
std::vector<std::string> names_of_first(Comm& comm,
                                        const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += name + kBetweenNames;
  std::uint64_t size = text.size();
  comm.broadcast(std::as_writable_bytes(std::span(&size, 1)), /*root=*/0);
  text.resize(size);
  comm.broadcast(std::as_writable_bytes(std::span(text)), /*root=*/0);
  std::vector<std::string> all;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find(kBetweenNames, begin);
    all.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return all;
}

/// The code of the first rank that failed counts on all.
ExitCode agreed(Comm& comm, ExitCode own) {
  std::vector<ExitCode> codes(static_cast<std::size_t>(comm.ranks()));
  comm.all_gather(std::as_bytes(std::span(&own, 1)),
                  std::as_writable_bytes(std::span(codes)));
  const auto failed =
      std::ranges::find_if(codes, [](ExitCode code) { return code != ExitCode::done; });
  return failed == codes.end() ? ExitCode::done : *failed;
}

/// Does a part of the work on all ranks. A failure is printed by the rank that has it;
/// the first rank has those that are the same on all.
template <class Work>
ExitCode attempt(Comm& comm, const std::string& target, const Work& work) {
  ExitCode own = ExitCode::done;
  std::string failure;
  try {
    work();
  } catch (const InputError& error) {
    own = exit_code(error.kind());
    failure = error.what();
  }
  const ExitCode first = agreed(comm, comm.is_first() ? own : ExitCode::done);
  const bool said = !comm.is_first() && first != ExitCode::done;
  if (!failure.empty() && !said) {
    fmt::print(stderr, "convoy: {} is left out: {}\n", printable(target),
               printable(failure));
  }
  return agreed(comm, own);
}

/// All ranks evaluate, or none does because one of them could not load the checkpoint.
EvalRow eval_one(const std::string& name, Comm& comm, EvaluatedTarget& evaluated) {
  EvalRow row{.target = name};
  row.code = attempt(comm, name, [&] { evaluated.load(name); });
  if (row.code != ExitCode::done) return row;
  row.code = attempt(comm, name, [&] { row.evaluated = evaluated.evaluate(name); });
  return row;
}

std::string row_text(const EvalRow& row, std::size_t width) {
  const std::string name = fmt::format("{:{}}", row.target, width);
  if (row.code != ExitCode::done) {
    return fmt::format("{}  failed (exit code {})\n", name, static_cast<int>(row.code));
  }
  const LossSum& sum = row.evaluated->sum;
  return fmt::format("{}  {:8.4f}  {:8.4f}  {:>9}\n", name, sum.accuracy(),
                     sum.mean_loss(), with_commas(row.evaluated->step));
}

std::string eval_table(const std::vector<EvalRow>& rows, std::string_view split) {
  const std::string title = fmt::format("target ({})", split);
  std::size_t width = title.size();
  for (const EvalRow& row : rows) width = std::max(width, row.target.size());
  std::string text = fmt::format("{:{}}  {:>8}  {:>8}  {:>9}\n", title, width, "accuracy",
                                 "loss", "step");
  for (const EvalRow& row : rows) text += row_text(row, width);
  return text;
}

}  // namespace

EvalTargets eval_targets(const std::string& first,
                         std::vector<std::string>& assignments) {
  std::vector<std::string> given{first};
  std::ranges::copy_if(assignments, std::back_inserter(given), names_target);
  std::erase_if(assignments, names_target);
  EvalTargets targets{.names = {}, .several = given.size() > 1};
  for (const std::string& name : given) {
    const std::vector<fs::path> runs = runs_in(name);
    if (runs.empty()) targets.names.push_back(name);
    for (const fs::path& run : runs) targets.names.push_back(run.string());
    targets.several = targets.several || !runs.empty();
  }
  return targets;
}

ExitCode eval_several(const std::vector<std::string>& targets, std::string_view split,
                      Comm& comm, EvaluatedTarget& evaluated) {
  std::vector<EvalRow> rows;
  for (const std::string& name : names_of_first(comm, targets)) {
    rows.push_back(eval_one(name, comm, evaluated));
  }
  if (comm.is_first()) fmt::print("\n{}", printable(eval_table(rows, split)));
  const auto failed = std::ranges::find_if(
      rows, [](const EvalRow& row) { return row.code != ExitCode::done; });
  return failed == rows.end() ? ExitCode::done : failed->code;
}

}  // namespace convoy
