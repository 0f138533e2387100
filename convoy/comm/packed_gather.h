// SPDX-License-Identifier: Apache-2.0
//
// PackedGather: gathers a unit's values, of which each rank has a part, each number in
// the type in which it is stored (params/stored_types.h).
//
//   own part -> packed -> all-gather of all ranks' parts -> unpacked, to the others'
//   parts
//
// Two units may be under way at a time if they are neighbours. Values that are all fp32
// are gathered in place.

#pragma once

#include <array>
#include <span>
#include <vector>

#include "convoy/comm/async_comm.h"
#include "convoy/params/parameter_store.h"
#include "convoy/params/stored_types.h"

namespace convoy {

class PackedGather {
 public:
  /// The numbers have those types; nullptr: fp32. Borrows them and the comm for as long
  /// as it lives.
  PackedGather(const ParameterStore& store, const StoredTypes* types, AsyncComm& comm);

  /// Starts to gather a unit. The store's numbers must not move until finish().
  AsyncComm::Ticket start(ParameterStore& store, UnitId unit);
  /// Waits for it, and completes the unit's numbers.
  void finish(ParameterStore& store, UnitId unit, AsyncComm::Ticket ticket);

 private:
  /// Where the parts of a unit lie when they are packed, in words of four bytes.
  struct PackedUnit {
    std::vector<Range> parts{};
    std::size_t words = 0;
  };

  std::span<float> memory(UnitId unit);
  std::byte* place(UnitId unit, std::size_t rank);

  const StoredTypes* types_;
  AsyncComm& comm_;
  std::vector<PackedUnit> units_;
  std::array<std::vector<float>, 2> packed_;  // of units with even and odd numbers
};

}  // namespace convoy
