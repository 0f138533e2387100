// SPDX-License-Identifier: Apache-2.0
//
// convoy: the command line. Commands and flags only; the work is in the library.

#include <cstdio>
#include <new>
#include <system_error>

#include "apps/commands.h"
#include "apps/version_details.h"
#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/settings/settings_resolve.h"
#include "convoy/setup/workload.h"

namespace convoy {

namespace {

ExitCode fail(ExitCode code, const char* kind, const char* what) {
  std::fprintf(stderr, "convoy: %s: %s\n", kind, what);
  return code;
}

/// CLI11 says only that a command is required.
void say_unknown_command(const CLI::App& app) {
  const std::vector<std::string> unknown = app.remaining();
  if (unknown.empty() || !app.get_subcommands().empty()) return;
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    commands.push_back(command->get_name());
  }
  const std::string nearest = nearest_name(unknown.front(), commands);
  std::fprintf(stderr, "convoy: unknown command %s%s%s\n", unknown.front().c_str(),
               nearest.empty() ? "" : "; nearest: ", nearest.c_str());
}

ExitCode run(int argc, char** argv) {
  CLI::App app(
      "convoy trains neural networks on CPUs.\n\nExample:\n  convoy train "
      "experiment=fashion_lenet5\n",
      "convoy");
  app.require_subcommand(1);
  app.set_version_flag("--version", version_details());
  Action action;
  add_train_command(app, action, {argv, argv + argc});
  add_eval_command(app, action, {argv, argv + argc});
  add_models_command(app, action);
  add_data_command(app, action);
  add_bench_command(app, action);
  add_simulate_command(app, action, {argv, argv + argc});
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool asked_for_text = error.get_exit_code() == 0;  // --help, --version
    app.exit(error);
    if (!asked_for_text) say_unknown_command(app);
    return asked_for_text ? ExitCode::done : ExitCode::usage;
  }
  return action();
}

}  // namespace
}  // namespace convoy

int main(int argc, char** argv) {
  using namespace convoy;
  const auto code = [&] {
    try {
      return run(argc, argv);
    } catch (const InputError& error) {
      return fail(exit_code(error.kind()), "bad input", error.what());
    } catch (const PeerError& error) {
      return fail(ExitCode::peer_unreachable, "lost a peer", error.what());
    } catch (const std::bad_alloc&) {
      return fail(
          ExitCode::cannot_read_write, "out of memory",
          "the system gave no more; less data or a smaller train.batch_size may help");
    } catch (const std::system_error& error) {  // by fmt, when stdout takes no more
      return fail(ExitCode::cannot_read_write, "cannot write", error.what());
    } catch (const std::exception& error) {
      return fail(ExitCode::bug, "bug", error.what());
    }
  }();
  if (code == ExitCode::done && std::fflush(stdout) != 0) {
    return static_cast<int>(
        fail(ExitCode::cannot_read_write, "cannot write", "standard output"));
  }
  return static_cast<int>(code);
}
