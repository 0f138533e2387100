// SPDX-License-Identifier: Apache-2.0
//
// GatheredUnits: values of which every rank keeps its own part, and which are whole while
// they are used.
//
//   compute   | forward 0 | forward 1 | forward 2 | ... | backward 2 | backward 1 | ...
//   gather  0 | 1         | 2         | 3         |     | 1          | 0          |
//   release               | 0         | 1         |     |            | 2          |
//
// A unit is gathered before it is used and released afterwards; the next one is gathered
// in the background while one is computed. All ranks have the same events, so they gather
// in the same order.

#pragma once

#include <optional>
#include <vector>

#include "convoy/comm/packed_gather.h"
#include "convoy/params/pass_listener.h"

namespace convoy {

struct GatherOptions {
  bool backward = true;                // passes have a backward half
  bool reshard_after_forward = true;   // release a unit after forward, gather it again
  bool prefetch = true;                // gather the next unit while one is computed
  const StoredTypes* types = nullptr;  // in which values are sent; nullptr: fp32
};

class GatheredUnits final : public PassListener {
 public:
  /// Borrows layout and comm, and what the store borrows, for as long as it lives.
  GatheredUnits(const Layout& layout, ParameterStore store, AsyncComm& comm,
                const GatherOptions& options);
  ~GatheredUnits() override { comm_.drain(); }
  GatheredUnits(const GatheredUnits&) = delete;
  GatheredUnits& operator=(const GatheredUnits&) = delete;

  void begin_microbatch(const MicrobatchPass& pass) override { pass_ = pass; }
  void before_forward(UnitId unit) override;
  void after_forward(UnitId unit) override;
  void before_backward(UnitId unit) override;
  void after_backward(UnitId unit) override;

  /// Gathers all units again, whose owners have changed their parts. They stay.
  void gather_all();

  /// Keeps the own part alone of all units: values change, or are not used any more.
  void release_all();

 private:
  struct Unit {
    std::optional<AsyncComm::Ticket> arriving{};
    bool shared = false;  // other units read it: it stays until the end of the pass
  };

  Unit& at(std::size_t unit) { return units_[unit]; }
  void start(std::size_t unit);
  void finish(std::size_t unit);
  void release(std::size_t unit);

  ParameterStore store_;
  PackedGather gather_;
  AsyncComm& comm_;
  GatherOptions options_;
  std::vector<Unit> units_;
  std::size_t first_trained_ = 0;  // units before it have no backward
  MicrobatchPass pass_;
};

}  // namespace convoy
