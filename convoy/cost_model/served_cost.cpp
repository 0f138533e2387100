// SPDX-License-Identifier: Apache-2.0

#include "convoy/cost_model/served_cost.h"

#include <algorithm>

#include "convoy/cost_model/event_queue.h"
#include "convoy/cost_model/link.h"

namespace convoy {
namespace {

constexpr std::size_t kRounds = 12;  // simulated batches per worker

/// The links between workers and servers. Each server has an equal range, so computing
/// one of them is enough.
struct Service {
  Service(const CostProfile& profile, const CostedJob& job)
      : bytes(gradient_bytes(profile)),
        range_bytes(bytes / static_cast<std::uint64_t>(job.servers)),
        pushed(bytes * job.partials + profile.statistics_bytes),
        pushed_range(pushed / static_cast<std::uint64_t>(job.servers)),
        tcp(profile.tcp) {
    const bool one_machine = job.cluster.machines == 1;
    latency = one_machine ? 0 : job.cluster.latency;
    bandwidth = one_machine ? 0 : job.cluster.bandwidth;
    server_bandwidth = one_machine ? 0 : job.cluster.server_bandwidth;
    const auto part = 1.0 / job.servers;
    update = profile.update * part;
    add = profile.sum * static_cast<double>(pushed) * part;
  }

  LinkOptions worker_link() const { return {latency + tcp.round, bandwidth}; }
  LinkOptions server_link() const { return {latency + tcp.round, server_bandwidth}; }
  /// Returns the CPU time for `moved` bytes received or sent.
  double handling(std::uint64_t moved) const {
    return static_cast<double>(moved) * tcp.byte / 2;
  }

  std::uint64_t bytes, range_bytes, pushed, pushed_range;
  MessageSeconds tcp;
  double latency = 0, bandwidth = 0, server_bandwidth = 0, update = 0, add = 0;
};

}  // namespace

StepCost ps_sync_cost(const CostProfile& profile, const CostedJob& job, double compute) {
  const Service service(profile, job);
  const auto workers = static_cast<std::uint64_t>(job.cluster.ranks());
  Link in(service.server_link()), out(service.server_link());
  double all_in = compute, all_out = 0;
  for (std::uint64_t w = 0; w < workers; ++w) {
    Link own(service.worker_link());
    all_in = std::max(all_in,
                      send_over(own, service.pushed, in, service.pushed_range, compute));
  }
  const auto count = static_cast<double>(workers);
  const double handled = count * service.handling(service.pushed_range);
  const double updated =
      std::max(all_in, compute + handled) + count * service.add + service.update;
  for (std::uint64_t w = 0; w < workers; ++w) {
    Link own(service.worker_link());
    all_out = std::max(all_out,
                       send_over(own, service.bytes, out, service.range_bytes, updated));
  }
  const double step =
      std::max(all_out, updated + count * service.handling(service.range_bytes));
  return {.step = step,
          .compute = compute,
          .exposed = step - compute,
          .sent = service.pushed,
          .link_bytes = std::max(in.bytes(), out.bytes())};
}

StepCost ps_async_cost(const CostProfile& profile, const CostedJob& job, double compute) {
  const Service service(profile, job);
  const auto workers = static_cast<std::size_t>(job.cluster.ranks());
  Link in(service.server_link()), out(service.server_link());
  std::vector<Link> up(workers, Link(service.worker_link()));
  std::vector<Link> down(workers, Link(service.worker_link()));
  struct Event {
    std::size_t worker;
    bool arrived;  // at the server; false: the worker has finished computing
  };
  EventQueue<Event> queue;
  // Start times are staggered; otherwise all workers would always arrive at the same
  // time.
  for (std::size_t w = 0; w < workers; ++w) {
    queue.schedule(compute * (1 + static_cast<double>(w) / static_cast<double>(workers)),
                   {w, false});
  }
  const double served = service.add + service.update +
                        service.handling(service.pushed_range) +
                        service.handling(service.range_bytes);
  const std::size_t all = kRounds * workers, warm = all / 2;
  double server_free = 0, warm_at = 0;
  for (std::size_t updates = 0; updates < all;) {
    const Event event = queue.next();
    if (!event.arrived) {
      queue.schedule(send_over(up[event.worker], service.pushed, in, service.pushed_range,
                               queue.now()),
                     {event.worker, true});
      continue;
    }
    server_free = std::max(server_free, queue.now()) + served;
    if (++updates == warm) warm_at = server_free;
    const double back = send_over(down[event.worker], service.bytes, out,
                                  service.range_bytes, server_free);
    queue.schedule(back + compute, {event.worker, false});
  }
  const double each = (server_free - warm_at) / static_cast<double>(all - warm);
  const double step = each * static_cast<double>(workers);
  return {.step = step,
          .compute = compute,
          .exposed = step - compute,
          .sent = service.pushed,
          .link_bytes = service.pushed_range * workers,
          .updates = static_cast<double>(workers)};
}

}  // namespace convoy
