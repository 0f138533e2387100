// SPDX-License-Identifier: Apache-2.0
//
// PlannedComm: the Comm of a rank that only plans (--dry-run).

#pragma once

#include "convoy/base/error.h"
#include "convoy/comm/comm.h"

namespace convoy {

class PlannedComm final : public Comm {
 public:
  PlannedComm(int rank, int ranks) : Comm(rank, ranks) {}

 private:
  void do_exchange(const Exchange&) override { refuse(); }
  void do_reduce(const Reduction&) override { refuse(); }

  static void refuse() { check(false, "no collective is called while planning"); }
};

}  // namespace convoy
