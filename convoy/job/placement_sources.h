// SPDX-License-Identifier: Apache-2.0
//
// The environment variables by which each launcher tells a process its placement.
// Internal to JobPlacement.

#pragma once

#include <optional>
#include <string>

#include "convoy/job/job_placement.h"

namespace convoy {

/// Variables of one launcher, read with errors that name them.
class Variables {
 public:
  /// Borrows the environment.
  explicit Variables(const Environment& environment) : environment_(environment) {}

  bool has(const std::string& name) const;
  std::optional<std::string> text(const std::string& name) const;
  /// Throws InputError unless the value is a whole number from 0.
  std::optional<int> number(const std::string& name) const;
  /// Also throws if the variable is not set; `because` names another one that is.
  int required(const std::string& name, const std::string& because) const;

 private:
  const Environment& environment_;
};

/// Whether WORLD_SIZE is the number of nodes, as in Lightning's environment: NODE_RANK
/// names the node, and no variable names a rank.
bool counts_nodes(const Variables& variables);

/// Returns the placement if that launcher started this process.
std::optional<JobPlacement> place_by_convoy(const Variables& variables);
std::optional<JobPlacement> place_by_torchrun(const Variables& variables);
std::optional<JobPlacement> place_by_slurm(const Variables& variables);
std::optional<JobPlacement> place_by_open_mpi(const Variables& variables);

/// Returns the first host of Slurm's list: "n[003-005,9],m1" gives "n003".
std::string first_host(const std::string& list);

/// Returns the tasks on one node from Slurm's list: "4(x2),3" gives 4, 4, 3.
int tasks_on_node(const std::string& list, int node);

}  // namespace convoy
