// SPDX-License-Identifier: Apache-2.0
//
// How the process of a rank ended, what that means for the job, and the message about it.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/base/exit_code.h"

namespace convoy {

/// What the end of one rank means for the others.
enum class EndKind {
  done,        // they may continue
  stopped,     // on request: the others are about to stop as well
  deliberate,  // it printed the reason, and has an exit code for it
  collateral,  // it lost a peer: the cause is elsewhere
  failed       // a signal, or an unknown exit code
};

EndKind kind_of(int wait_status);

/// The same for a worker of a parameter server. The servers decide how a run ends: a
/// worker that ends with a run's exit code has only followed. A worker that was refused
/// is restarted.
EndKind kind_of_worker(int wait_status);

/// The exit code of its end; rank_failed if it has none.
ExitCode code_of(int wait_status);

/// Formats as "killed by SIGKILL", "exit code 65: bad data or checkpoint".
std::string describe_end(int wait_status);

/// "SIGTERM".
std::string signal_name(int signal);

/// What is known about a rank that has ended.
struct DeathReport {
  int rank = 0;
  int pid = 0;
  std::string host;
  std::string role{};      // "worker 1"; empty in a job without servers
  std::string how;         // describe_end()
  std::string why{};       // a likely cause, if there is one
  std::uint64_t step = 0;  // its last known step; 0: unknown
  std::vector<std::string> last_lines;
  std::string log;  // path of its log, if there is one
};

/// "rank 2 on node1 (pid 4711) failed at step 57: killed by SIGKILL".
/// "worker 1 (rank 2, pid 4711) was killed by SIGKILL at step 57".
std::string headline(const DeathReport& dead);

/// The last lines of its output, and the path of its log; each begins with a newline.
std::string output_tail(const DeathReport& dead);

}  // namespace convoy
