// SPDX-License-Identifier: Apache-2.0
//
// What all transports share: each collective as an exchange of spans or as a reduction,
// this rank's own part of it, and the counting of traffic.

#include "convoy/comm/comm.h"

#include <cstring>
#include <numeric>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"

namespace convoy {
namespace {

/// The two may be the same memory.
void copy(std::span<const std::byte> from, std::span<std::byte> to) {
  check(from.size() == to.size(), "source and destination of a copy have the same size");
  if (!from.empty()) std::memmove(to.data(), from.data(), from.size());
}

std::size_t sum_of(std::span<const std::size_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
}

}  // namespace

std::string_view name_of(Operation operation) {
  constexpr std::array<std::string_view, kOperations> kNames = {
      "broadcast",      "gather",     "scatter", "all_gather",
      "reduce_scatter", "all_reduce", "barrier"};
  return kNames[static_cast<std::size_t>(operation)];
}

Traffic& Traffic::operator+=(const Traffic& other) {
  calls += other.calls;
  bytes_sent += other.bytes_sent;
  bytes_received += other.bytes_received;
  seconds += other.seconds;
  return *this;
}

/// Counts a call and its time, also if it throws.
class Comm::Counted {
 public:
  Counted(Comm& comm, Operation operation)
      : traffic_(comm.traffic_[static_cast<std::size_t>(operation)]) {
    ++traffic_.calls;
  }
  ~Counted() { traffic_.seconds += watch_.seconds(); }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

  void sent(std::size_t bytes) { traffic_.bytes_sent += bytes; }
  void received(std::size_t bytes) { traffic_.bytes_received += bytes; }

 private:
  Traffic& traffic_;
  Stopwatch watch_;
};

Comm::Comm(int rank, int ranks)
    : rank_(rank),
      ranks_(ranks),
      to_(static_cast<std::size_t>(ranks)),
      from_(static_cast<std::size_t>(ranks)) {
  check(rank >= 0 && rank < ranks, "0 <= rank < ranks");
}

Traffic Comm::total_traffic() const {
  Traffic total;
  for (const Traffic& traffic : traffic_) total += traffic;
  return total;
}

void Comm::clear_exchange() {
  for (auto& span : to_) span = {};
  for (auto& span : from_) span = {};
}

void Comm::exchange(Operation operation) {
  Counted counted(*this, operation);
  const auto own = static_cast<std::size_t>(rank_);
  if (to_[own].data() != nullptr) copy(to_[own], from_[own]);
  to_[own] = {};
  from_[own] = {};
  do_exchange({operation, to_, from_});
  for (const auto& span : to_) counted.sent(span.size());
  for (const auto& span : from_) counted.received(span.size());
}

void Comm::broadcast(std::span<std::byte> bytes, int root) {
  clear_exchange();
  if (rank_ == root) {
    for (auto& span : to_) span = bytes;
    from_[static_cast<std::size_t>(rank_)] = bytes;
  } else {
    from_[static_cast<std::size_t>(root)] = bytes;
  }
  exchange(Operation::broadcast);
}

void Comm::gather(std::span<const std::byte> own, std::span<std::byte> all,
                  std::span<const std::size_t> sizes, int root) {
  check(sizes.size() == from_.size(), "one size per rank");
  check(own.size() == sizes[static_cast<std::size_t>(rank_)],
        "own data has the announced size");
  clear_exchange();
  to_[static_cast<std::size_t>(root)] = own;
  if (rank_ == root) {
    check(all.size() == sum_of(sizes), "the root's buffer holds all data");
    for (std::size_t r = 0, begin = 0; r < sizes.size(); begin += sizes[r++]) {
      from_[r] = all.subspan(begin, sizes[r]);
    }
  }
  exchange(Operation::gather);
}

void Comm::scatter(std::span<const std::byte> all, std::span<std::byte> own,
                   std::span<const std::size_t> sizes, int root) {
  check(sizes.size() == to_.size(), "one size per rank");
  check(own.size() == sizes[static_cast<std::size_t>(rank_)],
        "own data has the announced size");
  clear_exchange();
  from_[static_cast<std::size_t>(root)] = own;
  if (rank_ == root) {
    check(all.size() == sum_of(sizes), "the root's buffer holds all data");
    for (std::size_t r = 0, begin = 0; r < sizes.size(); begin += sizes[r++]) {
      to_[r] = all.subspan(begin, sizes[r]);
    }
  }
  exchange(Operation::scatter);
}

void Comm::all_gather(std::span<const std::byte> own, std::span<std::byte> all) {
  check(all.size() == own.size() * to_.size(), "all ranks give equal sizes");
  clear_exchange();
  for (std::size_t r = 0; r < to_.size(); ++r) {
    to_[r] = own;
    from_[r] = all.subspan(r * own.size(), own.size());
  }
  exchange(Operation::all_gather);
}

void Comm::all_gather_parts(std::span<float> whole, RankParts parts) {
  const Range own = part_of_rank(parts, rank_, ranks_, whole.size());
  clear_exchange();
  for (int r = 0; r < ranks_; ++r) {
    const Range theirs = part_of_rank(parts, r, ranks_, whole.size());
    const auto i = static_cast<std::size_t>(r);
    to_[i] = std::as_bytes(whole.subspan(own.begin, own.size()));
    from_[i] = std::as_writable_bytes(whole.subspan(theirs.begin, theirs.size()));
  }
  exchange(Operation::all_gather);
}

void Comm::barrier() {
  std::byte token{1};
  std::byte sink{};
  clear_exchange();
  for (auto& span : to_) span = {&token, 1};
  for (auto& span : from_) span = {&sink, 1};
  exchange(Operation::barrier);
}

void Comm::reduce_scatter(const ReductionSum& order,
                          std::span<const float* const> partials, std::span<float> whole,
                          RankParts parts, Dtype dtype) {
  reduce({Operation::reduce_scatter, order, partials, whole, parts, dtype});
}

void Comm::all_reduce(const ReductionSum& order, std::span<const float* const> partials,
                      std::span<float> whole, Dtype dtype) {
  reduce({Operation::all_reduce, order, partials, whole, {}, dtype});
}

/// A rank sends its partials of the other ranks' parts and, in an all-reduce, the sum of
/// its own part to all ranks.
void Comm::reduce(const Reduction& reduction) {
  check(reduction.order.ranks() == ranks_,
        "the reduction order has the job's number of ranks");
  const std::size_t own_partials = reduction.order.partials_of(rank_).size();
  check(reduction.partials.size() == own_partials, "a rank passes all of its partials");
  Counted counted(*this, reduction.operation);
  do_reduce(reduction);

  const std::size_t others = static_cast<std::size_t>(ranks_) - 1;
  const std::size_t number = bytes_of(reduction.dtype);
  const std::size_t owned = reduction.part_of(rank_).size() * number;
  const std::size_t rest = reduction.whole.size() * number - owned;
  counted.sent(rest * own_partials);
  counted.received(owned * (reduction.order.partials() - own_partials));
  if (!reduction.to_all()) return;
  counted.sent(owned * others);
  counted.received(rest);
}

}  // namespace convoy
