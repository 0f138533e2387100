// SPDX-License-Identifier: Apache-2.0
//
// Ending: how a rank's process ended, and what that means for the job.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/base/exit_code.h"

namespace convoy {

/// What the end of one rank means for the others.
enum class EndKind {
  done,        // they may go on
  stopped,     // on request: they are about to do the same
  deliberate,  // it said itself why, and has a code for it
  collateral,  // it lost a peer: the cause is elsewhere
  failed       // a signal, or a code that nobody chose
};

EndKind kind_of(int wait_status);

/// The same for a worker of a parameter server. How a run ends is the server's to say:
/// a worker that was told so has only followed. One that was refused comes again.
EndKind kind_of_worker(int wait_status);

/// The code of its end; rank_failed if it has none of its own.
ExitCode code_of(int wait_status);

/// "killed by SIGKILL", "exit code 65: bad data or checkpoint".
std::string describe_end(int wait_status);

/// "SIGTERM".
std::string signal_name(int signal);

/// What is known of a rank that is no more.
struct DeadRank {
  int rank = 0;
  int pid = 0;
  std::string host;
  std::string role{};      // "worker 1"; empty: a rank among its like
  std::string how;         // describe_end()
  std::string why{};       // as far as it can be guessed
  std::uint64_t step = 0;  // it was at; 0: not known
  std::vector<std::string> last_lines;
  std::string log;  // path of all its lines, if there is one
};

/// "rank 2 on node1 (pid 4711) failed at step 57: killed by SIGKILL".
/// "worker 1 (rank 2, pid 4711) was killed by SIGKILL at step 57".
std::string headline(const DeadRank& dead);

/// What it printed last, and where all of it is: lines that begin with a newline.
std::string last_words(const DeadRank& dead);

/// Both.
std::string report(const DeadRank& dead);

}  // namespace convoy
