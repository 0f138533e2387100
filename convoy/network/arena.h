// SPDX-License-Identifier: Apache-2.0
//
// Arena: one piece of memory for everything that a pass needs, planned by lifetime.
//
// A user of memory reserves it beforehand and says during which moments of the step it
// must keep its content. Reservations whose lifetimes do not meet share bytes.
//
//   moment   0 1 2 3 4 5
//   slot A   x x x x x .       A and B meet, B and C do not:
//   slot B   . x x . . .       C may lie where B lay.
//   slot C   . . . x x x
//
// A slot may live several times, at the same place, if its content is made anew.

#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "convoy/base/aligned.h"
#include "convoy/base/range.h"

namespace convoy {

/// A reservation.
enum class SlotId : std::size_t {};

/// First and last moment (inclusive) at which a slot's content matters.
struct Lifetime {
  int first;
  int last;
};

class ArenaPlan {
 public:
  SlotId reserve(std::size_t bytes, Lifetime lifetime);

  /// Makes a slot live until `moment` at least, the last time that it lives.
  void extend(SlotId slot, int moment);

  /// Makes a slot live once more. Requires: after its other lifetimes.
  void revive(SlotId slot, Lifetime lifetime);

  /// What is written to these slots at `moment` is written again at `again`, so nothing
  /// is kept in between. Slots that do not live at `moment` stay as they are.
  void repeat(Range slots, int moment, int again);

  /// The number of slots, which is the next one's number.
  std::size_t size() const { return slots_.size(); }

  /// Places every slot, largest first, at the lowest offset that is free for its
  /// lifetime.
  void solve();

  /// Requires: solve() was called.
  std::size_t offset(SlotId slot) const;
  std::size_t bytes() const { return bytes_; }

 private:
  struct Slot {
    std::size_t bytes;
    std::vector<Lifetime> lifetimes;
    std::size_t offset = 0;
  };

  static bool meet(const Slot& a, const Slot& b);

  std::size_t lowest_free_offset(const Slot& slot,
                                 const std::vector<const Slot*>& placed) const;

  std::vector<Slot> slots_;
  std::size_t bytes_ = 0;
};

/// The memory of a solved plan.
class Arena {
 public:
  Arena() = default;
  explicit Arena(ArenaPlan plan) : plan_(std::move(plan)), memory_(plan_.bytes()) {}

  template <class T = float>
  T* get(SlotId slot) {
    return reinterpret_cast<T*>(memory_.data() + plan_.offset(slot));
  }

  std::size_t bytes() const { return memory_.size(); }

 private:
  ArenaPlan plan_;
  AlignedBuffer<std::byte> memory_;
};

}  // namespace convoy
