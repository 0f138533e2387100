// SPDX-License-Identifier: Apache-2.0
//
// AloneComm: the Comm of a job with one rank. It only copies and adds.

#pragma once

#include "convoy/comm/comm.h"

namespace convoy {

class AloneComm final : public Comm {
 public:
  AloneComm() : Comm(0, 1) {}

 private:
  void do_exchange(const Exchange&) override {}
  void do_reduce(const Reduction& reduction) override {
    const Range all{0, reduction.whole.size()};
    reduction.order.add_chunk(reduction.partials, all, reduction.whole, reduction.dtype);
  }
};

}  // namespace convoy
