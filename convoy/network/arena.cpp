// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/arena.h"

#include <algorithm>

#include "convoy/base/error.h"

namespace convoy {

SlotId ArenaPlan::reserve(std::size_t bytes, Lifetime lifetime) {
  check(lifetime.first <= lifetime.last, "a slot lives at least for a moment");
  slots_.push_back({round_up(bytes, kCacheLine), {lifetime}});
  return SlotId{slots_.size() - 1};
}

void ArenaPlan::extend(SlotId slot, int moment) {
  Lifetime& lifetime = slots_.at(static_cast<std::size_t>(slot)).lifetimes.back();
  lifetime.last = std::max(lifetime.last, moment);
}

void ArenaPlan::revive(SlotId slot, Lifetime lifetime) {
  std::vector<Lifetime>& lifetimes = slots_.at(static_cast<std::size_t>(slot)).lifetimes;
  check(lifetimes.back().last < lifetime.first, "a slot lives once more afterwards");
  lifetimes.push_back(lifetime);
}

void ArenaPlan::repeat(Range slots, int moment, int again) {
  for (std::size_t i = slots.begin; i < slots.end; ++i) {
    std::vector<Lifetime>& lifetimes = slots_.at(i).lifetimes;
    Lifetime& first = lifetimes.front();
    if (moment < first.first || first.last < moment) continue;
    const int last = std::max(first.last, again);
    first.last = moment;
    lifetimes.push_back({again, last});
  }
}

bool ArenaPlan::meet(const Slot& a, const Slot& b) {
  for (const Lifetime& one : a.lifetimes) {
    for (const Lifetime& other : b.lifetimes) {
      if (one.first <= other.last && other.first <= one.last) return true;
    }
  }
  return false;
}

std::size_t ArenaPlan::lowest_free_offset(const Slot& slot,
                                          const std::vector<const Slot*>& placed) const {
  // `placed` is ordered by offset: walk up until a gap is wide enough.
  std::size_t offset = 0;
  for (const Slot* other : placed) {
    if (!meet(slot, *other)) continue;
    if (offset + slot.bytes <= other->offset) break;
    offset = std::max(offset, other->offset + other->bytes);
  }
  return offset;
}

void ArenaPlan::solve() {
  std::vector<Slot*> by_size;
  for (Slot& slot : slots_) by_size.push_back(&slot);
  std::ranges::stable_sort(by_size, std::greater(), &Slot::bytes);
  std::vector<const Slot*> placed;
  for (Slot* slot : by_size) {
    slot->offset = lowest_free_offset(*slot, placed);
    bytes_ = std::max(bytes_, slot->offset + slot->bytes);
    placed.insert(std::ranges::upper_bound(placed, slot->offset, {}, &Slot::offset),
                  slot);
  }
}

std::size_t ArenaPlan::offset(SlotId slot) const {
  return slots_.at(static_cast<std::size_t>(slot)).offset;
}

}  // namespace convoy
