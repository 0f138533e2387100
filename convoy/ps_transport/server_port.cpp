// SPDX-License-Identifier: Apache-2.0

#include "convoy/ps_transport/server_port.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <system_error>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/system/quiet_thread.h"

namespace convoy {
namespace {

// Maximum delay until an ended session is removed.
constexpr int kTickMilliseconds = 200;
constexpr std::size_t kFilesPerWorker = 4;  // socket, wake-up, shared memory
// Descriptors of a parameter server besides its workers'.
constexpr std::size_t kOtherFiles = 128;

void reserve_for(const ServerPortOptions& options) {
  const auto workers = static_cast<std::size_t>(options.workers);
  reserve_descriptors(kFilesPerWorker * workers + kMostStrangers + kOtherFiles,
                      std::to_string(workers) + " workers");
}

}  // namespace

ServerPort::ServerPort(Listener listener, const ServerPortOptions& options)
    : WorkerSlots(options),
      options_(options),
      admission_(std::move(listener.socket),
                 {.token = options.token,
                  .log = [this](const std::string& line) { log(line); }}),
      context_{options_, *this, traffic_, [this](const std::string& line) { log(line); }},
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  check(static_cast<bool>(wake_), "the system has an eventfd");
  reserve_for(options_);
  thread_ = quiet_thread([this] { admit_until_stopped(); });
}

ServerPort::~ServerPort() {
  stop_ = true;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = ::write(wake_.get(), &one, sizeof(one));
  thread_.join();
  // All sessions are cut at once: they may wait for each other.
  for (const auto& session : sessions_) session->cut("the server ends");
  sessions_.clear();
}

void ServerPort::admit_until_stopped() {
  while (!stop_) {
    std::vector<pollfd> polled{{wake_.get(), POLLIN, 0}};
    admission_.add_to(polled);
    ::poll(polled.data(), polled.size(), kTickMilliseconds);
    sessions_.remove_if([](const auto& session) { return session->is_done(); });
    for (ProvenPeer& peer : admission_.advance()) serve(std::move(peer));
  }
}

void ServerPort::serve(ProvenPeer peer) {
  const std::string name = peer.name;
  try {
    sessions_.push_back(std::make_unique<WorkerSession>(std::move(peer), context_));
  } catch (const std::system_error& error) {  // no thread or no descriptor
    admission_.log_refusal(name, error.what());
  }
}

void ServerPort::log(const std::string& line) {
  const std::lock_guard lock(logging_);
  if (options_.log) options_.log(line);
}

}  // namespace convoy
