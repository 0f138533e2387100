// SPDX-License-Identifier: Apache-2.0
//
// PlannedComm: a place in a job that does not run: enough to plan one.

#pragma once

#include "convoy/base/error.h"
#include "convoy/comm/comm.h"

namespace convoy {

class PlannedComm final : public Comm {
 public:
  PlannedComm(int rank, int ranks) : Comm(rank, ranks) {}

 private:
  void do_send(std::span<const std::byte>, int, Tag) override { refuse(); }
  void do_receive(std::span<std::byte>, int, Tag) override { refuse(); }
  int do_receive_from_any(std::span<std::byte>, Tag) override {
    refuse();
    return 0;
  }
  void do_exchange(const Exchange&) override { refuse(); }
  void do_reduce(const Reduction&) override { refuse(); }

  static void refuse() { check(false, "a plan is not run"); }
};

}  // namespace convoy
