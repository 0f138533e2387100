// SPDX-License-Identifier: Apache-2.0
//
// convoy: the command line. It only has commands and flags; the library does the work.

#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <new>
#include <sstream>
#include <system_error>

#include "apps/commands.h"
#include "apps/version_details.h"
#include "convoy/base/error.h"
#include "convoy/base/printable.h"
#include "convoy/base/text.h"
#include "convoy/settings/settings_resolve.h"
#include "convoy/setup/workload.h"

namespace convoy {

namespace {

ExitCode fail(ExitCode code, const char* kind, const std::string& what) {
  std::fprintf(stderr, "convoy: %s: %s\n", kind, printable(what).c_str());
  return code;
}

/// Thrown by fmt if stdout cannot be written, by std::thread, and by std::filesystem.
ExitCode fail_as_system(const std::system_error& error) {
  const ExitCode code = ExitCode::cannot_read_write;
  if (std::ferror(stdout) != 0) return fail(code, "cannot write", error.what());
  if (error.code() == std::errc::resource_unavailable_try_again) {
    return fail(code, "cannot start a thread",
                error.code().message() +
                    "\n  hint: a smaller cluster.threads, fewer ranks, or a higher limit "
                    "of processes (ulimit -u, pids.max of the cgroup)");
  }
  return fail(code, "the system refused", error.what());
}

/// Whether the reader of the output has closed the pipe.
bool reader_is_gone() {
  pollfd out{.fd = STDOUT_FILENO, .events = 0, .revents = 0};
  return ::poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

/// Whether output could not be written. A closed pipe does not count, because a run does
/// not end when its output is no longer read.
bool has_lost_output() {
  const bool flushed = std::fflush(stdout) == 0;
  return (!flushed || std::ferror(stdout) != 0) && !reader_is_gone();
}

/// Names an unknown command; CLI11 only says that a command is required.
void say_unknown_command(const CLI::App& app) {
  const std::vector<std::string> unknown = app.remaining();
  if (unknown.empty() || !app.get_subcommands().empty()) return;
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    commands.push_back(command->get_name());
  }
  const std::string nearest = nearest_name(unknown.front(), commands);
  std::fprintf(stderr, "convoy: unknown command %s%s%s\n",
               printable(unknown.front()).c_str(),
               nearest.empty() ? "" : "; nearest: ", nearest.c_str());
}

/// Prints --help, --version, or what is wrong with the command line.
ExitCode answer(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream out, err;
  const bool asked_for_text = app.exit(error, out, err) == 0;
  std::fputs(out.str().c_str(), stdout);
  std::fputs(printable(err.str()).c_str(), stderr);
  if (!asked_for_text) say_unknown_command(app);
  return asked_for_text ? ExitCode::done : ExitCode::usage;
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
  add_predict_command(app, action);
  add_landscape_command(app, action, {argv, argv + argc});
  add_compare_command(app, action);
  add_report_command(app, action);
  add_board_command(app, action);
  add_fit_command(app, action);
  add_models_command(app, action);
  add_data_command(app, action);
  add_bench_command(app, action);
  add_simulate_command(app, action, {argv, argv + argc});
  add_sweep_command(app, action);
  add_kfold_command(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return answer(app, error);
  }
  return action();
}

}  // namespace
}  // namespace convoy

int main(int argc, char** argv) {
  using namespace convoy;
  // A write beyond the file size limit is an error, not a signal.
  std::signal(SIGXFSZ, SIG_IGN);
  const auto code = [&] {
    try {
      return run(argc, argv);
    } catch (const InputError& error) {
      return fail(exit_code(error.kind()), "bad input", error.what());
    } catch (const PeerError& error) {
      return fail(ExitCode::peer_unreachable, "lost a peer", error.what());
    } catch (const std::bad_alloc&) {
      return fail(ExitCode::cannot_read_write, "out of memory",
                  "memory could not be allocated; less data or a smaller "
                  "train.batch_size may help");
    } catch (const std::system_error& error) {
      return fail_as_system(error);
    } catch (const std::exception& error) {
      return fail(ExitCode::bug, "bug", error.what());
    }
  }();
  if (code == ExitCode::done && has_lost_output()) {
    return static_cast<int>(
        fail(ExitCode::cannot_read_write, "cannot write", "standard output"));
  }
  return static_cast<int>(code);
}
