// SPDX-License-Identifier: Apache-2.0
//
// run_forked_ranks: runs the ranks of a measurement, each as a process of this machine.

#pragma once

#include <functional>

namespace convoy {

/// Runs the body in one process per rank, and returns when all are done. Requires: this
/// process has no other threads. Throws PeerError that names the first rank to fail; no
/// process is left behind.
void run_forked_ranks(int ranks, const std::function<void(int rank)>& body);

}  // namespace convoy
