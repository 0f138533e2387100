// SPDX-License-Identifier: Apache-2.0

#include "convoy/comm/async_comm.h"

#include <algorithm>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/system/cpu.h"

namespace convoy {

AsyncComm::AsyncComm(Comm& comm) : comm_(comm) {
  if (comm.ranks() > 1) thread_ = std::thread([this] { serve(); });
}

AsyncComm::~AsyncComm() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  started_one_.notify_one();
  thread_.join();
}

AsyncComm::Ticket AsyncComm::start_all_reduce(const ReductionSum& order,
                                              std::span<const float* const> partials,
                                              std::span<float> whole, Dtype dtype) {
  return start_reduction(Kind::all_reduce, order, partials, whole, {}, dtype);
}

AsyncComm::Ticket AsyncComm::start_reduce_scatter(const ReductionSum& order,
                                                  std::span<const float* const> partials,
                                                  std::span<float> whole, RankParts parts,
                                                  Dtype dtype) {
  return start_reduction(Kind::reduce_scatter, order, partials, whole, parts, dtype);
}

AsyncComm::Ticket AsyncComm::start_reduction(Kind kind, const ReductionSum& order,
                                             std::span<const float* const> partials,
                                             std::span<float> whole, RankParts parts,
                                             Dtype dtype) {
  check(partials.size() <= kMostPartials,
        "no more partials than a queued operation can hold");
  return start([&](Job& job) {
    job.kind = kind;
    job.order = &order;
    job.dtype = dtype;
    std::ranges::copy(partials, job.partials.begin());
    job.partial_count = partials.size();
    job.whole = whole;
    job.parts = parts;
  });
}

AsyncComm::Ticket AsyncComm::start_all_gather_parts(std::span<float> whole,
                                                    RankParts parts) {
  return start([&](Job& job) {
    job.kind = Kind::all_gather_parts;
    job.whole = whole;
    job.parts = parts;
  });
}

template <class Fill>
AsyncComm::Ticket AsyncComm::start(const Fill& fill) {
  if (comm_.ranks() == 1) return do_now(fill);
  std::unique_lock lock(mutex_);
  wait_until(lock, [&] { return started_ - finished_ < kMostJobs; });
  fill(jobs_[started_ % kMostJobs]);
  const Ticket ticket{++started_};
  lock.unlock();
  started_one_.notify_one();
  return ticket;
}

/// With a single rank, handing an operation to a thread would take longer than the
/// operation.
template <class Fill>
AsyncComm::Ticket AsyncComm::do_now(const Fill& fill) {
  Job& job = jobs_.front();
  fill(job);
  run(job);
  finished_ = ++started_;
  return {started_};
}

void AsyncComm::wait(Ticket ticket) {
  std::unique_lock lock(mutex_);
  check(ticket.number <= started_, "a ticket belongs to a started operation");
  wait_until(lock, [&] { return finished_ >= ticket.number; });
  if (failed_ != 0 && ticket.number >= failed_) std::rethrow_exception(failure_);
}

void AsyncComm::wait_all() { wait({started_}); }

void AsyncComm::drain() noexcept {
  std::unique_lock lock(mutex_);
  finished_one_.wait(lock, [&] { return finished_ == started_; });
}

double AsyncComm::exposed_seconds() const {
  const std::lock_guard lock(mutex_);
  return exposed_seconds_;
}

template <class Condition>
void AsyncComm::wait_until(std::unique_lock<std::mutex>& lock, const Condition& holds) {
  if (holds()) return;
  const Stopwatch watch;
  finished_one_.wait(lock, holds);
  exposed_seconds_ += watch.seconds();
}

/// After a failure the Comm cannot be used any more: later operations fail with the same
/// error. The thread adds numbers, so it flushes denormals like the compute threads.
void AsyncComm::serve() {
  flush_denormals();
  std::unique_lock lock(mutex_);
  while (true) {
    started_one_.wait(lock, [&] { return closing_ || started_ > finished_; });
    if (closing_) return;
    const Job& job = jobs_[finished_ % kMostJobs];
    if (failed_ == 0) {
      lock.unlock();
      std::exception_ptr thrown;
      try {
        run(job);
      } catch (...) {
        thrown = std::current_exception();
      }
      lock.lock();
      if (thrown) {
        failure_ = thrown;
        failed_ = finished_ + 1;
      }
    }
    ++finished_;
    finished_one_.notify_all();
  }
}

void AsyncComm::run(const Job& job) {
  const std::span partials(job.partials.data(), job.partial_count);
  switch (job.kind) {
    case Kind::all_reduce:
      return comm_.all_reduce(*job.order, partials, job.whole, job.dtype);
    case Kind::reduce_scatter:
      return comm_.reduce_scatter(*job.order, partials, job.whole, job.parts, job.dtype);
    case Kind::all_gather_parts:
      return comm_.all_gather_parts(job.whole, job.parts);
  }
}

}  // namespace convoy
