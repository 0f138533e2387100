// SPDX-License-Identifier: Apache-2.0
//
// Spawn: starts a rank as a child process of its launcher.
//
// The child runs this program with the same arguments and additional variables, in its
// own process group (a terminal's Ctrl-C reaches the launcher only), without a shell. It
// dies with its launcher, however that ends.

#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "convoy/job/cores.h"
#include "convoy/job/job_placement.h"
#include "convoy/system/descriptor.h"

namespace convoy {

struct SpawnOptions {
  /// As main() gets them, beginning with the program's name.
  std::vector<std::string> arguments;
  Environment environment;
  /// Open descriptors that the child inherits under the same numbers.
  std::vector<int> files;
  Cores cores;  // to run on; empty: any
};

struct Child {
  pid_t pid = -1;
  Descriptor process;   // readable when the process has ended
  Descriptor out, err;  // its output; reading never blocks
};

/// Throws InputError of kind `storage` if the system has no more processes or
/// descriptors.
Child spawn(const SpawnOptions& options);

/// Makes an anonymous file in memory with that text, for a child.
Descriptor text_file(const std::string& text);

}  // namespace convoy
