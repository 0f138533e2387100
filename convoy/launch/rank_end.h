// SPDX-License-Identifier: Apache-2.0
//
// How the process of a rank ended, what that means for the job, and the report on it.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/base/exit_code.h"

namespace convoy {

/// What the end of one rank means for the others.
enum class EndKind {
  done,        // they may continue
  stopped,     // on request: they are about to do the same
  deliberate,  // it printed the reason, and has a code for it
  collateral,  // it lost a peer: the cause is elsewhere
  failed       // a signal, or a code that is not convoy's
};

EndKind kind_of(int wait_status);

/// The same for a worker of a parameter server. The servers decide how a run ends: a
/// worker that ends with a run's code has only followed. One that was refused is started
/// again.
EndKind kind_of_worker(int wait_status);

/// The code of its end; rank_failed if it has none of its own.
ExitCode code_of(int wait_status);

/// "killed by SIGKILL", "exit code 65: bad data or checkpoint".
std::string describe_end(int wait_status);

/// "SIGTERM".
std::string signal_name(int signal);

/// What is known of a rank that has ended.
struct DeathReport {
  int rank = 0;
  int pid = 0;
  std::string host;
  std::string role{};      // "worker 1"; empty in a job without servers
  std::string how;         // describe_end()
  std::string why{};       // a likely cause, if there is one
  std::uint64_t step = 0;  // it was at; 0: not known
  std::vector<std::string> last_lines;
  std::string log;  // path of all its lines, if there is one
};

/// "rank 2 on node1 (pid 4711) failed at step 57: killed by SIGKILL".
/// "worker 1 (rank 2, pid 4711) was killed by SIGKILL at step 57".
std::string headline(const DeathReport& dead);

/// The last lines of its output, and where all of it is; each begins with a newline.
std::string output_tail(const DeathReport& dead);

}  // namespace convoy
