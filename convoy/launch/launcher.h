// SPDX-License-Identifier: Apache-2.0
//
// Launcher: starts the ranks of this node as child processes and supervises them.
//
//   launch(options)          on every node
//     node 0 hosts the rendezvous; all launchers and all ranks hold sessions with it
//     each rank runs this program again; variables give its place (rank_variables.h)
//
// Parameter servers are the first ranks of node 0; workers that die are restarted.
//
// On one machine no address is needed: the rendezvous listens on a free port of the
// loopback interface, with a token generated for this job.

#pragma once

#include <string>
#include <vector>

#include "convoy/base/exit_code.h"
#include "convoy/job/job_placement.h"
#include "convoy/job/job_rendezvous.h"

namespace convoy {

struct LaunchOptions {
  JobPlacement placement;
  std::vector<std::string> arguments;  // of this program; ranks get them too
  std::string settings;                // as text, for the ranks
  JoinOptions join{};
  bool pin = true;
  int threads = 0;         // per rank; 0: its share of the cores, and one for a server
  int restarts = 0;        // per worker that dies
  int terminal_width = 0;  // of the launcher's output; 0: not a terminal
  bool quietly = false;    // print only errors
  int out = 1, err = 2;    // descriptors that the ranks' lines are printed to
};

/// Returns when all ranks of the job have ended, with the job's exit code. Throws
/// InputError and PeerError if the job cannot start.
ExitCode launch(const LaunchOptions& options);

}  // namespace convoy
