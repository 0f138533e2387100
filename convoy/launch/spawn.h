// SPDX-License-Identifier: Apache-2.0
//
// Spawn: a rank as a child process of its launcher.
//
// It runs this very program with the same arguments and a few more variables, in a
// process group of its own (a terminal's Ctrl-C goes to the launcher alone), without a
// shell. It dies with its launcher, however that ends.

#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "convoy/job/cores.h"
#include "convoy/job/job_placement.h"
#include "convoy/system/descriptor.h"

namespace convoy {

struct SpawnOptions {
  std::vector<std::string> arguments;  // as main() gets them, the program's name first
  Environment environment;
  std::vector<int> files;  // open files to pass on under their numbers
  Cores cores;             // to run on; none: any
};

struct Child {
  pid_t pid = -1;
  Descriptor process;   // readable when it has ended
  Descriptor out, err;  // what it prints; reading never waits
};

/// Throws InputError of kind `storage` if the system has no more processes or files.
Child spawn(const SpawnOptions& options);

/// A file in memory with that text, to pass on.
Descriptor text_file(const std::string& text);

}  // namespace convoy
