// SPDX-License-Identifier: Apache-2.0
//
// JobCount: how many runs at a time are fastest on this machine, by measurement: training
// steps of one run on all cores against those of several at once, each on its share.

#pragma once

#include <string>

#include "convoy/settings/settings.h"

namespace convoy {

struct JobCount {
  int jobs = 1;
  std::string reason;  // for people: "2 at a time: 1.6 times as fast as ..."
};

/// Chooses for runs like this one, at most `runs` at a time. Takes a second or two. A run
/// of several ranks already divides the cores, and is not divided further than that.
/// Requires: this process has no other threads. Throws PeerError if a measurement fails.
JobCount measure_job_count(const Settings& settings, std::size_t runs, bool simulated);

}  // namespace convoy
