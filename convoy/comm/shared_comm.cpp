// SPDX-License-Identifier: Apache-2.0

#include "convoy/comm/shared_comm.h"

#include <algorithm>
#include <cstring>

#include "convoy/base/error.h"
#include "convoy/params/stored_types.h"

namespace convoy {
namespace {

/// Returns piece `number` of a range that is cut into pieces of `longest`.
Range piece(std::size_t size, std::size_t longest, std::size_t number) {
  return {std::min(size, number * longest), std::min(size, (number + 1) * longest)};
}

std::size_t pieces(std::size_t size, std::size_t longest) {
  return (size + longest - 1) / longest;
}

}  // namespace

SharedComm::SharedComm(std::unique_ptr<SharedSegment> segment)
    : Comm(segment->rank(), segment->ranks()), segment_(std::move(segment)) {
  for (int peer = 0; peer < ranks(); ++peer) {
    to_.emplace_back(*segment_, rank(), peer);
    from_.emplace_back(*segment_, peer, rank());
  }
}

/// Exchanges piece by piece with all ranks, so that no pipe stays full while its reader
/// waits for another one.
void SharedComm::do_exchange(const Exchange& exchange) {
  segment_->begin(exchange.operation);
  const std::size_t longest = segment_->slot_bytes();
  std::size_t rounds = 0;
  for (std::size_t r = 0; r < to_.size(); ++r) {
    rounds = std::max({rounds, pieces(exchange.to[r].size(), longest),
                       pieces(exchange.from[r].size(), longest)});
  }
  for (std::size_t k = 0; k < rounds; ++k) {
    for (std::size_t r = 0; r < to_.size(); ++r) {
      const Range part = piece(exchange.to[r].size(), longest, k);
      if (part.size() == 0) continue;
      std::memcpy(to_[r].reserve(), exchange.to[r].data() + part.begin, part.size());
      to_[r].post();
    }
    for (std::size_t r = 0; r < from_.size(); ++r) {
      const Range part = piece(exchange.from[r].size(), longest, k);
      if (part.size() == 0) continue;
      std::memcpy(exchange.from[r].data() + part.begin, from_[r].front(), part.size());
      from_[r].release();
    }
  }
}

/// One reduction in progress.
class SharedComm::Reducing {
 public:
  Reducing(SharedComm& comm, const Reduction& reduction);

  void run();

 private:
  /// By how many chunks ranks may be apart: enough for a rank to continue while another
  /// is descheduled for a moment.
  static constexpr std::size_t kAhead = SharedSegment::kSlots / 2 - 1;

  Range chunk_of(int owner, std::size_t k) const;
  void give_partials(std::size_t k);
  void add(std::size_t k);
  void give_result(std::size_t k);
  void take_results(std::size_t k);

  std::span<float> chunk_in_whole(const Range& chunk) const {
    return reduction_.whole.subspan(chunk.begin, chunk.size());
  }
  const float* received(const std::byte* sent, std::size_t partial, std::size_t size);

  template <class Action>
  void for_each_other(const Action& action) const;

  SharedComm& comm_;
  const Reduction& reduction_;
  std::size_t longest_;  // elements per chunk: a slot holds that many of all partials
  std::size_t chunks_;
};

SharedComm::Reducing::Reducing(SharedComm& comm, const Reduction& reduction)
    : comm_(comm), reduction_(reduction) {
  std::size_t most = 0, longest_part = 0;
  for (int r = 0; r < comm.ranks(); ++r) {
    most = std::max(most, reduction.order.partials_of(r).size());
    longest_part = std::max(longest_part, reduction.part_of(r).size());
  }
  longest_ = comm.segment_->slot_bytes() / bytes_of(reduction.dtype) / most;
  check(longest_ > 0, "a slot holds at least one element of each partial");
  chunks_ = pieces(longest_part, longest_);
  comm.chunk_partials_.resize(reduction.order.partials());
  const std::size_t widened =
      reduction.dtype == Dtype::fp32
          ? 0
          : reduction.order.partials() * std::min(longest_, longest_part);
  if (comm.widened_.size() < widened) comm.widened_ = AlignedBuffer<float>(widened);
}

template <class Action>
void SharedComm::Reducing::for_each_other(const Action& action) const {
  for (int r = 0; r < comm_.ranks(); ++r) {
    if (r != comm_.rank()) action(r, static_cast<std::size_t>(r));
  }
}

Range SharedComm::Reducing::chunk_of(int owner, std::size_t k) const {
  const Range part = reduction_.part_of(owner);
  const Range chunk = piece(part.size(), longest_, k);
  return {part.begin + chunk.begin, part.begin + chunk.end};
}

/// A pipe carries, in this order: the partials of chunks 0 to kAhead, the sum of chunk 0,
/// the partials of the next chunk, the sum of chunk 1 ... When a rank begins a chunk, the
/// other ranks have finished the previous one, so at most 2 kAhead + 2 slots are in use;
/// with that many slots per pipe there is no deadlock.
void SharedComm::Reducing::run() {
  for (std::size_t k = 0; k < std::min(kAhead, chunks_); ++k) give_partials(k);
  for (std::size_t k = 0; k < chunks_; ++k) {
    if (k + kAhead < chunks_) give_partials(k + kAhead);
    add(k);
    if (!reduction_.to_all()) continue;
    give_result(k);
    if (k >= kAhead) take_results(k - kAhead);
  }
  if (!reduction_.to_all()) return;
  for (std::size_t k = chunks_ - std::min(kAhead, chunks_); k < chunks_; ++k) {
    take_results(k);
  }
}

void SharedComm::Reducing::give_partials(std::size_t k) {
  for_each_other([&](int owner, std::size_t o) {
    const Range chunk = chunk_of(owner, k);
    if (chunk.size() == 0) return;
    std::byte* slot = comm_.to_[o].reserve();
    for (const float* partial : reduction_.partials) {
      pack(reduction_.dtype, {partial + chunk.begin, chunk.size()}, slot);
      slot += chunk.size() * bytes_of(reduction_.dtype);
    }
    comm_.to_[o].post();
  });
}

/// Returns a partial's numbers of a chunk, which are used in place if they are fp32.
const float* SharedComm::Reducing::received(const std::byte* sent, std::size_t partial,
                                            std::size_t size) {
  if (reduction_.dtype == Dtype::fp32) return reinterpret_cast<const float*>(sent);
  float* numbers = comm_.widened_.data() + partial * size;
  unpack(reduction_.dtype, sent, {numbers, size});
  return numbers;
}

void SharedComm::Reducing::add(std::size_t k) {
  const Range chunk = chunk_of(comm_.rank(), k);
  if (chunk.size() == 0) return;
  const Range own = reduction_.order.partials_of(comm_.rank());
  for (std::size_t i = 0; i < own.size(); ++i) {
    comm_.chunk_partials_[own.begin + i] = reduction_.partials[i] + chunk.begin;
  }
  for_each_other([&](int peer, std::size_t p) {
    const Range theirs = reduction_.order.partials_of(peer);
    const std::byte* slot = comm_.from_[p].front();
    for (std::size_t i = theirs.begin; i < theirs.end; ++i) {
      comm_.chunk_partials_[i] = received(slot, i, chunk.size());
      slot += chunk.size() * bytes_of(reduction_.dtype);
    }
  });
  reduction_.order.add_chunk(comm_.chunk_partials_, chunk, chunk_in_whole(chunk),
                             reduction_.dtype);
  for_each_other([&](int, std::size_t p) { comm_.from_[p].release(); });
}

void SharedComm::Reducing::give_result(std::size_t k) {
  const Range chunk = chunk_of(comm_.rank(), k);
  if (chunk.size() == 0) return;
  for_each_other([&](int, std::size_t p) {
    pack(reduction_.dtype, chunk_in_whole(chunk), comm_.to_[p].reserve());
    comm_.to_[p].post();
  });
}

void SharedComm::Reducing::take_results(std::size_t k) {
  for_each_other([&](int owner, std::size_t o) {
    const Range chunk = chunk_of(owner, k);
    if (chunk.size() == 0) return;
    unpack(reduction_.dtype, comm_.from_[o].front(), chunk_in_whole(chunk));
    comm_.from_[o].release();
  });
}

void SharedComm::do_reduce(const Reduction& reduction) {
  segment_->begin(reduction.operation);
  Reducing(*this, reduction).run();
}

}  // namespace convoy
