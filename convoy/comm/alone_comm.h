// SPDX-License-Identifier: Apache-2.0
//
// AloneComm: the Comm of a job of one rank. It copies and adds; there is nobody to talk
// to.

#pragma once

#include "convoy/base/error.h"
#include "convoy/comm/comm.h"

namespace convoy {

class AloneComm final : public Comm {
 public:
  AloneComm() : Comm(0, 1) {}

 private:
  void do_send(std::span<const std::byte>, int, Tag) override { nobody(); }
  void do_receive(std::span<std::byte>, int, Tag) override { nobody(); }
  int do_receive_from_any(std::span<std::byte>, Tag) override {
    nobody();
    return 0;
  }
  void do_exchange(const Exchange&) override {}
  void do_reduce(const Reduction& reduction) override {
    reduction.order.add(reduction.partials, reduction.whole);
  }

  static void nobody() { check(false, "a single rank sends no messages"); }
};

}  // namespace convoy
