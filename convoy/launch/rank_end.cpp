// SPDX-License-Identifier: Apache-2.0

#include "convoy/launch/rank_end.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <csignal>
#include <cstring>

namespace convoy {
EndKind kind_of(int wait_status) {
  if (!WIFEXITED(wait_status)) return EndKind::failed;
  switch (static_cast<ExitCode>(WEXITSTATUS(wait_status))) {
    case ExitCode::done:
      return EndKind::done;
    case ExitCode::stopped:
      return EndKind::stopped;
    case ExitCode::usage:
    case ExitCode::bad_data:
    case ExitCode::cannot_read_write:
    case ExitCode::not_admitted:
    case ExitCode::bad_settings:
    case ExitCode::diverged:
    case ExitCode::interrupted_twice:
      return EndKind::deliberate;
    case ExitCode::peer_unreachable:
      return EndKind::collateral;
    default:
      return EndKind::failed;
  }
}

EndKind kind_of_worker(int wait_status) {
  const EndKind kind = kind_of(wait_status);
  if (!WIFEXITED(wait_status)) return kind;
  switch (static_cast<ExitCode>(WEXITSTATUS(wait_status))) {
    case ExitCode::diverged:
    case ExitCode::interrupted_twice:
      return EndKind::stopped;
    case ExitCode::not_admitted:
      return EndKind::failed;
    case ExitCode::rank_failed:
      return EndKind::collateral;
    default:
      return kind;
  }
}

ExitCode code_of(int wait_status) {
  if (kind_of(wait_status) == EndKind::failed) return ExitCode::rank_failed;
  return static_cast<ExitCode>(WEXITSTATUS(wait_status));
}

std::string describe_end(int wait_status) {
  if (WIFSIGNALED(wait_status)) return "killed by " + signal_name(WTERMSIG(wait_status));
  const int code = WEXITSTATUS(wait_status);
  const ExitCodeMeaning* const known = find_exit_code(code);
  return known ? fmt::format("exit code {}: {}", code, known->meaning)
               : fmt::format("exit code {}", code);
}

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

std::string headline(const DeathReport& dead) {
  const std::string when = dead.step > 0 ? fmt::format(" at step {}", dead.step) : "";
  const std::string why = dead.why.empty() ? "" : ", " + dead.why;
  if (dead.role.empty()) {
    return fmt::format("rank {} on {} (pid {}) failed{}: {}{}", dead.rank, dead.host,
                       dead.pid, when, dead.how, why);
  }
  const char* verb = dead.how.starts_with("killed") ? "was" : "ended with";
  return fmt::format("{} (rank {}, pid {}) {} {}{}{}", dead.role, dead.rank, dead.pid,
                     verb, dead.how, when, why);
}

std::string output_tail(const DeathReport& dead) {
  std::string text;
  if (!dead.last_lines.empty()) text += "\n  its last lines:";
  for (const std::string& line : dead.last_lines) text += "\n    | " + line;
  if (!dead.log.empty()) text += "\n  its log: " + dead.log;
  return text;
}

}  // namespace convoy
