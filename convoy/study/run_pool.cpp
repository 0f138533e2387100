// SPDX-License-Identifier: Apache-2.0

#include "convoy/study/run_pool.h"

#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>

#include "convoy/base/error.h"
#include "convoy/job/job_placement.h"

namespace convoy {
namespace {

constexpr int kTickMilliseconds = 200;
constexpr std::size_t kLinesKept = 8;

int exit_code_of_status(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

RunPool::RunPool(int jobs) : jobs_(jobs), cores_(usable_cores()) {
  check(jobs > 0, "a pool has room for a process");
  std::signal(SIGPIPE, SIG_IGN);
  silent_.close();
}

RunPool::~RunPool() {
  send_all(SIGKILL);
  for (const Running& one : running_) ::waitpid(one.child.pid, nullptr, 0);
}

void RunPool::run(const std::vector<PoolTask>& tasks, const PoolCallbacks& callbacks) {
  std::size_t next = 0;
  while (!running_.empty() || (next < tasks.size() && requests_ == 0)) {
    while (next < tasks.size() && requests_ == 0 &&
           running_.size() < static_cast<std::size_t>(jobs_)) {
      start(tasks[next++]);
    }
    callbacks.tick(running_.size());
    wait();
    take_signals();
    for (Running& one : running_) read_output(one);
    reap(callbacks);
  }
}

void RunPool::start(const PoolTask& task) {
  const std::size_t slot = free_slot();
  SpawnOptions options{.arguments = task.arguments,
                       .environment = current_environment(),
                       .files = {},
                       .cores = cores_of(static_cast<int>(slot), jobs_, cores_)};
  if (jobs_ == 1) options.cores.clear();
  running_.push_back({.number = task.number,
                      .slot = slot,
                      .child = spawn(options),
                      .output = RankOutput(0, silent_),
                      .watch = {}});
}

std::size_t RunPool::free_slot() const {
  std::size_t slot = 0;
  while (std::ranges::find(running_, slot, &Running::slot) != running_.end()) ++slot;
  return slot;
}

void RunPool::wait() const {
  std::vector<pollfd> polled{{signals_.file(), POLLIN, 0}};
  for (const Running& one : running_) {
    for (const Descriptor* file : {&one.child.process, &one.child.out, &one.child.err}) {
      if (*file) polled.push_back({file->get(), POLLIN, 0});
    }
  }
  ::poll(polled.data(), polled.size(), kTickMilliseconds);
}

void RunPool::take_signals() {
  while (const auto signal = signals_.next()) {
    ++requests_;
    send_all(requests_ >= 2 ? SIGKILL : *signal == SIGHUP ? SIGTERM : *signal);
  }
}

void RunPool::read_output(Running& of) {
  Child& child = of.child;
  if (child.out && !of.output.read(Stream::out, child.out.get())) child.out.reset();
  if (child.err && !of.output.read(Stream::err, child.err.get())) child.err.reset();
}

void RunPool::reap(const PoolCallbacks& callbacks) {
  std::erase_if(running_, [&](Running& one) {
    int status = 0;
    if (::waitpid(one.child.pid, &status, WNOHANG) != one.child.pid) return false;
    end(one, status, callbacks);
    return true;
  });
}

void RunPool::end(Running& ended, int status, const PoolCallbacks& callbacks) {
  ::kill(-ended.child.pid, SIGKILL);  // and processes that it may have started
  read_output(ended);                 // its last lines
  ended.output.finish();
  callbacks.ended({.number = ended.number,
                   .code = exit_code_of_status(status),
                   .last_lines = ended.output.last_lines(kLinesKept),
                   .seconds = ended.watch.seconds()});
}

void RunPool::send_all(int signal) const {
  for (const Running& one : running_) ::kill(-one.child.pid, signal);
}

}  // namespace convoy
