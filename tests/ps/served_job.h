// SPDX-License-Identifier: Apache-2.0
//
// run_served: parameter servers and their workers as threads of the test.
//
//   const ServedResult result = run_served(settings, {.workers = 3, .servers = 2});
//
// Servers have a Comm among themselves, workers reach them over loopback. A worker whose
// `on_batch` throws Died leaves at once, its batch undone; it comes back in its place,
// knowing nothing, unless it is gone for good. What a server throws is thrown on.

#pragma once

#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "convoy/checkpoint/checkpoint_state.h"
#include "convoy/checkpoint/run_folder.h"
#include "convoy/ps/server_updates.h"
#include "convoy/ps/worker.h"
#include "convoy/ps_transport/worker_port.h"
#include "convoy/setup/workload.h"
#include "convoy/system/stop_request.h"
#include "convoy/train/outcome.h"
#include "convoy/train/trainer.h"
#include "tests/checkpoint/cut_line.h"
#include "tests/comm/thread_ranks.h"
#include "tests/rendezvous/store_service.h"

namespace convoy {

struct Died {};

struct ServedJob {
  int workers = 1, servers = 1;
  RunFolder* folder = nullptr;  // the first server's, if there is one
  /// Hears on the first server how many steps are done.
  std::function<void(std::size_t)> on_step = nullptr;
  /// Hears of each batch that a worker begins, in the worker's thread: how many this life
  /// of it has begun before.
  std::function<void(int worker, int batches)> on_batch = nullptr;
  bool dead_come_back = true;
  /// If there is a line of the first worker to the last server: it comes back as well
  /// when that is cut.
  CutLine* line = nullptr;
};

struct ServedResult {
  Outcome outcome;                   // the first server's
  std::vector<std::string> weights;  // by server: weights_sha256
  std::vector<Assignment> endings;   // by worker: what it was told at the end
};

inline std::string weights_in(const Trainer& trainer) {
  return weights_sha256(trainer.work().layout, trainer.values(),
                        trainer.work().statistics_layout, trainer.statistics());
}

namespace served {

/// Requires: a StopRequest is there, as in main().
inline void serve(const Settings& settings, const ServedJob& job, Comm& comm,
                  std::shared_ptr<Listener> listener, const StopRequest& stop,
                  ServedResult& result) {
  Trainer trainer(settings, comm,
                  server_updates({.workers = job.workers,
                                  .token = kTestToken,
                                  .listener = std::move(listener)}));
  RunFolder* folder = comm.is_first() ? job.folder : nullptr;
  if (folder != nullptr && trainer.restored()) {
    folder->forget_after(trainer.restored()->step, trainer.restored()->evaluated);
  }
  if (comm.is_first() && job.on_step) trainer.tell_steps_to(job.on_step);
  const Outcome outcome = trainer.train(folder, nullptr, stop, "");
  if (comm.is_first()) result.outcome = outcome;
  result.weights[static_cast<std::size_t>(comm.rank())] = outcome.weights_sha256;
}

/// One life of a worker; throws Died if it is cut short.
inline Assignment live(const Settings& settings, const ServedJob& job, int number,
                       const std::vector<ServerAddress>& servers,
                       const StopRequest& stop) {
  Worker worker(settings, {number, job.workers, job.servers});
  WorkerPort port(worker.port_options(servers, kTestToken));
  return worker.run(port, stop, [&, batches = 0](std::size_t) mutable {
    if (job.on_batch) job.on_batch(number, batches++);
  });
}

inline Assignment work(const Settings& settings, const ServedJob& job, int number,
                       std::vector<ServerAddress> servers, const StopRequest& stop) {
  if (job.line != nullptr && number == 0) {
    servers.back() = job.line->leading_to(servers.back());
  }
  while (true) {
    try {
      return live(settings, job, number, servers, stop);
    } catch (const Died&) {
      if (!job.dead_come_back) return {};
    } catch (const PeerError&) {
      if (job.line == nullptr || number != 0) throw;
    }
  }
}

}  // namespace served

inline ServedResult run_served(const Settings& settings, const ServedJob& job) {
  const StopRequest stop;
  std::vector<std::shared_ptr<Listener>> listeners;
  std::vector<ServerAddress> addresses;
  for (int server = 0; server < job.servers; ++server) {
    listeners.push_back(std::make_shared<Listener>(listen_on("127.0.0.1", 0)));
    addresses.push_back({"127.0.0.1", listeners.back()->port});
  }
  ServedResult result;
  result.weights.resize(static_cast<std::size_t>(job.servers));
  result.endings.resize(static_cast<std::size_t>(job.workers));
  std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(job.workers));
  std::vector<std::thread> workers;
  for (int worker = 0; worker < job.workers; ++worker) {
    workers.emplace_back([&, worker] {
      const auto number = static_cast<std::size_t>(worker);
      try {
        result.endings[number] = served::work(settings, job, worker, addresses, stop);
      } catch (...) {
        thrown[number] = std::current_exception();
      }
    });
  }
  std::exception_ptr failure;
  try {
    run_ranks(job.servers, [&](Comm& comm) {
      // Nobody else has it: a server that fails before it answers closes it.
      auto listener =
          std::exchange(listeners[static_cast<std::size_t>(comm.rank())], nullptr);
      served::serve(settings, job, comm, std::move(listener), stop, result);
    });
  } catch (...) {
    failure = std::current_exception();
  }
  for (std::thread& worker : workers) worker.join();
  if (failure) std::rethrow_exception(failure);
  for (const std::exception_ptr& error : thrown) {
    if (error) std::rethrow_exception(error);
  }
  return result;
}

}  // namespace convoy
