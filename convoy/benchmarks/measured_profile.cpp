// SPDX-License-Identifier: Apache-2.0

#include "convoy/benchmarks/measured_profile.h"

#include <algorithm>

#include "convoy/base/error.h"
#include "convoy/benchmarks/exchange_times.h"
#include "convoy/benchmarks/forked_ranks.h"
#include "convoy/benchmarks/loader_bench.h"
#include "convoy/benchmarks/pass_times.h"
#include "convoy/comm/connect.h"
#include "convoy/cost_model/cost_profile_file.h"
#include "convoy/models/models.h"
#include "convoy/network/stage.h"
#include "convoy/rendezvous/file_store.h"
#include "convoy/system/temporary_folder.h"

namespace convoy {
namespace {

constexpr double kLoaderSeconds = 0.3, kExchangeSeconds = 0.15;
constexpr std::uint64_t kTcpBytes = std::uint64_t{16} << 20;
constexpr int kPair = 2, kFew = 4;

/// Runs a measurement on ranks that are processes of this machine; returns the result of
/// the first rank.
template <class Body>
CostProfile measured_by(int ranks, Transport transport,
                        const MeasuredProfileOptions& options, const Body& body) {
  const TemporaryFolder place;
  const std::filesystem::path found = place.path() / "found.json";
  run_forked_ranks(ranks, [&](int rank) {
    if (options.on_begin) options.on_begin(rank, ranks);
    FileStore store(place.path());
    const auto comm =
        connect({.rank = rank, .ranks = ranks, .transport = transport}, store);
    CostProfile profile;
    profile.units.emplace_back();
    profile.passes.push_back({.units = {{}}});
    body(*comm, profile);
    if (rank == 0) write_profile(profile, found);
    comm->barrier();
  });
  return read_profile(found);
}

CostCurve tcp_all_reduce(int ranks, const MeasuredProfileOptions& options) {
  return measured_by(ranks, Transport::tcp, options,
                     [](Comm& comm, CostProfile& profile) {
                       profile.all_reduce =
                           measure_all_reduce({kTcpBytes, kExchangeSeconds}, comm);
                     })
      .all_reduce;
}

/// An all-reduce has two rounds. With two ranks, each sends all bytes once and adds half
/// of them; with a few ranks, each has two more peers to send to and receive from.
MessageSeconds tcp_cost(const MeasuredProfileOptions& options, double sum) {
  const CostCurve pair = tcp_all_reduce(kPair, options);
  const CostCurve few = tcp_all_reduce(kFew, options);
  const CostPoint& last = pair.points().back();
  const double steep = (last.seconds - pair.least()) / static_cast<double>(last.bytes);
  const double turns = std::max(1.0, static_cast<double>(kFew) / options.cores);
  return {.round = pair.least() / 2,
          .message = std::max(0.0, few.least() - pair.least()) / (2 * (kFew - 2)) / turns,
          .byte = std::max(0.0, steep - sum / 2)};
}

/// Returns the seconds per sample; zero, which leaves loading out, if there is no data to
/// load.
double load_seconds(const Settings& settings) {
  try {
    return bench_loader(settings, kLoaderSeconds).image_us * 1e-6;
  } catch (const InputError&) {
    return 0;
  }
}

}  // namespace

CostProfile measure_profile(const Settings& settings,
                            const MeasuredProfileOptions& options) {
  find_model(settings.model.name);
  CostProfile profile = measured_by(
      options.ranks, Transport::automatic, options, [&](Comm& comm, CostProfile& found) {
        found.units.clear();
        found.passes.clear();
        measure_passes(settings,
                       {.threads = options.threads,
                        .samples = options.samples,
                        .seconds = options.seconds},
                       comm, found);
        measure_exchanges({gradient_bytes(found), kExchangeSeconds}, comm, found);
      });
  profile.model = settings.model.name;
  profile.ranks = options.ranks;
  profile.threads = options.threads;
  profile.cores = options.cores;
  profile.pack = kPack;
  profile.tcp = tcp_cost(options, profile.sum);
  profile.load = load_seconds(settings);
  return profile;
}

}  // namespace convoy
