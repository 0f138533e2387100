// SPDX-License-Identifier: Apache-2.0

#include "convoy/cost_model/exchange_cost.h"

#include <algorithm>
#include <cmath>

#include "convoy/base/range.h"

namespace convoy {
namespace {

constexpr int kFirst = 0;
constexpr std::uint64_t kFloat = sizeof(float);

std::uint64_t owned(std::uint64_t bytes, int ranks, int rank) {
  return even_part(bytes / kFloat, static_cast<std::size_t>(ranks),
                   static_cast<std::size_t>(rank))
             .size() *
         kFloat;
}

std::uint64_t whole(double bytes) {
  return static_cast<std::uint64_t>(std::llround(bytes));
}

double number(std::uint64_t bytes) { return static_cast<double>(bytes); }

}  // namespace

std::uint64_t reduce_scatter_sent(std::uint64_t bytes, int ranks, int rank,
                                  std::uint64_t partials) {
  return (bytes - owned(bytes, ranks, rank)) * partials;
}

std::uint64_t all_gather_sent(std::uint64_t bytes, int ranks, int rank) {
  return owned(bytes, ranks, rank) * static_cast<std::uint64_t>(ranks - 1);
}

std::uint64_t all_reduce_sent(std::uint64_t bytes, int ranks, int rank,
                              std::uint64_t partials) {
  return reduce_scatter_sent(bytes, ranks, rank, partials) +
         all_gather_sent(bytes, ranks, rank);
}

std::uint64_t gather_scatter_sent(std::uint64_t bytes, int ranks, int rank,
                                  std::uint64_t partials) {
  return rank == kFirst ? bytes * static_cast<std::uint64_t>(ranks - 1)
                        : bytes * partials;
}

/// Returns the fraction of what a rank sends to all other ranks alike that leaves its
/// machine.
double ExchangeCost::to_other_machines() const {
  return (ranks() - cluster_.ranks_per_machine) / others();
}

/// More ranks than cores take turns.
double ExchangeCost::stretched(double seconds) const {
  return seconds * std::max(1.0, static_cast<double>(profile_.ranks) / profile_.cores);
}

double ExchangeCost::added(double bytes) const { return stretched(bytes * profile_.sum); }

Exchange ExchangeCost::over_tcp(double rounds, double peers, double sent,
                                double link) const {
  const MessageSeconds& tcp = profile_.tcp;
  const double messages = stretched(rounds * std::max(0.0, peers - 1) * tcp.message);
  const double busy = messages + stretched(sent * tcp.byte);
  const double cable =
      one_machine() || cluster_.bandwidth <= 0 ? 0 : link / cluster_.bandwidth;
  const double latency = one_machine() ? 0 : cluster_.latency;
  return {.seconds = rounds * (tcp.round + latency) + std::max(busy, cable),
          .busy = busy,
          .sent = whole(sent),
          .link_bytes = whole(link)};
}

/// Derived from the measured direct exchange, which has two rounds.
Exchange ExchangeCost::in_machine(double rounds, double sent, double direct_sent,
                                  std::uint64_t bytes) const {
  const double latency = profile_.all_reduce.least();
  const double moving = profile_.all_reduce.at(number(bytes)) - latency;
  const double busy = moving * sent / direct_sent;
  return {.seconds = latency * rounds / 2 + busy,
          .busy = busy,
          .sent = whole(sent),
          .link_bytes = 0};
}

Exchange ExchangeCost::all_reduce(std::uint64_t bytes, Algorithm algorithm) const {
  if (alone() || bytes == 0) return {};
  if (algorithm == Algorithm::ring) return by_ring(bytes);
  return algorithm == Algorithm::tree ? by_tree(bytes) : by_direct(bytes);
}

Exchange ExchangeCost::by_direct(std::uint64_t bytes) const {
  const double sent = number(all_reduce_sent(bytes, cluster_.ranks(), kFirst, partials_));
  if (one_machine()) {
    const double one_partial = 2 * number(bytes) * others() / ranks();
    return in_machine(2, sent, one_partial, bytes);
  }
  const double link = sent * to_other_machines() * cluster_.ranks_per_machine;
  Exchange exchange = over_tcp(2, others(), sent, link);
  const double adding = added(number(bytes) / ranks() * others() * number(partials_));
  exchange.busy += adding;
  exchange.seconds = std::max(
      exchange.seconds, 2 * (profile_.tcp.round + cluster_.latency) + exchange.busy);
  return exchange;
}

/// Only one rank per machine sends to another machine.
Exchange ExchangeCost::by_ring(std::uint64_t bytes) const {
  const double rounds = 2 * others();
  const double sent = rounds * number(bytes) / ranks();
  if (one_machine()) return in_machine(rounds, sent, sent, bytes);
  Exchange exchange = over_tcp(rounds, 1, sent, sent);
  const double adding = added(sent / 2);
  exchange.busy += adding;
  exchange.seconds += adding;
  return exchange;
}

Exchange ExchangeCost::by_tree(std::uint64_t bytes) const {
  const double depth = std::ceil(std::log2(ranks()));
  const double moved = 2 * depth * number(bytes);
  if (one_machine()) {
    Exchange exchange =
        in_machine(2 * depth, moved, 2 * number(bytes) * others() / ranks(), bytes);
    exchange.sent = whole(depth * number(bytes));
    return exchange;
  }
  Exchange exchange = over_tcp(2 * depth, 1, moved, moved);
  const double adding = added(depth * number(bytes));
  exchange.busy += adding;
  exchange.seconds += adding;
  exchange.sent = exchange.link_bytes = whole(depth * number(bytes));
  return exchange;
}

/// Returns the cost of one of the two rounds of an all-reduce.
Exchange ExchangeCost::half(std::uint64_t bytes, std::uint64_t sent) const {
  if (one_machine()) {
    return in_machine(1, number(sent), 2 * number(bytes) * others() / ranks(), bytes);
  }
  const double link = number(sent) * to_other_machines() * cluster_.ranks_per_machine;
  return over_tcp(1, others(), number(sent), link);
}

Exchange ExchangeCost::reduce_scatter(std::uint64_t bytes) const {
  if (alone() || bytes == 0) return {};
  return half(bytes, reduce_scatter_sent(bytes, cluster_.ranks(), kFirst, partials_));
}

Exchange ExchangeCost::all_gather(std::uint64_t bytes) const {
  if (alone() || bytes == 0) return {};
  return half(bytes, all_gather_sent(bytes, cluster_.ranks(), kFirst));
}

/// Data goes to rank 0 and back, one rank after the other; rank 0 adds in between.
Exchange ExchangeCost::gather_scatter(std::uint64_t bytes) const {
  if (alone() || bytes == 0) return {};
  const std::uint64_t sent =
      gather_scatter_sent(bytes, cluster_.ranks(), kFirst, partials_);
  if (one_machine()) {
    const double latency = profile_.gather_scatter.least();
    const double moving = profile_.gather_scatter.at(number(bytes)) - latency;
    const double busy = moving * (1 + number(partials_)) / 2;
    return {.seconds = latency + busy, .busy = busy, .sent = sent, .link_bytes = 0};
  }
  const double out_of_machine = to_other_machines();
  Exchange scattered = over_tcp(1, others(), number(sent), number(sent) * out_of_machine);
  Exchange exchange = over_tcp(1, others(), number(sent * partials_),
                               number(sent * partials_) * out_of_machine);
  const double adding = added(number(sent * partials_) + number(bytes) * ranks());
  exchange += scattered;
  exchange.busy += adding;
  exchange.seconds += adding;
  exchange.sent = sent;
  exchange.link_bytes = whole(number(sent * partials_) * out_of_machine);
  return exchange;
}

Exchange ExchangeCost::agreement(std::uint64_t message_bytes) const {
  if (alone()) return {};
  const std::uint64_t sent = message_bytes * static_cast<std::uint64_t>(others());
  if (one_machine()) {
    return {.seconds = profile_.agreement, .busy = 0, .sent = sent, .link_bytes = 0};
  }
  return over_tcp(1, others(), number(sent),
                  number(sent) * to_other_machines() * cluster_.ranks_per_machine);
}

}  // namespace convoy
