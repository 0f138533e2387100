// SPDX-License-Identifier: Apache-2.0
//
// Launcher: starts the ranks of this node as child processes and looks after them.
//
//   launch(options)          on every node
//     node 0 hosts the rendezvous; all launchers and all ranks hold sessions with it
//     each rank runs this program again; variables give its place (rank_variables.h)
//
// Where there are parameter servers, they are the first ranks of node 0, and workers that
// die are started again.
//
// On one machine no address is needed: the rendezvous listens on loopback, on a port that
// is free, with a token made for this job.

#pragma once

#include <string>
#include <vector>

#include "convoy/base/exit_code.h"
#include "convoy/job/job_placement.h"
#include "convoy/job/job_rendezvous.h"

namespace convoy {

struct LaunchOptions {
  JobPlacement placement;
  std::vector<std::string> arguments;  // of this program, for the ranks
  std::string settings;                // for the ranks, whatever they take
  JoinOptions join{};
  bool pin = true;
  int threads = 0;         // of a rank; 0: its part of the cores, and a server one
  int restarts = 0;        // how often a worker that dies is started again
  int terminal_width = 0;  // of the launcher's output; 0: it is no terminal
  bool quietly = false;    // prints only what went wrong
  int out = 1, err = 2;    // files the ranks' lines go to
};

/// Returns when all ranks of the job have ended, with the code that holds for all. Throws
/// InputError and PeerError if the job cannot begin.
ExitCode launch(const LaunchOptions& options);

}  // namespace convoy
