// SPDX-License-Identifier: Apache-2.0

#include "convoy/ps_transport/worker_slots.h"

#include <algorithm>
#include <utility>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/ps_transport/worker_session.h"

namespace convoy {
namespace {

using std::chrono::milliseconds;

constexpr auto kProbeTimeout = std::chrono::seconds(2);  // for a slot's holder
constexpr auto kEndGrace = std::chrono::seconds(2);      // for a session that was cut
constexpr auto kPollInterval = milliseconds(5);

}  // namespace

WorkerSlots::WorkerSlots(const ServerPortOptions& options)
    : types_(options.types),
      pulled_(options.pulled()),
      pulled_bytes_(options.pulled_bytes()) {
  const auto workers = static_cast<std::size_t>(options.workers);
  check(options.partials.size() == workers && options.microbatches.size() == workers,
        "a server knows what each worker will push");
  for (const std::size_t partials : options.partials) {
    auto slot = std::make_unique<Slot>();
    slot->gradients = LazyBuffer(partials * options.gradients);
    slot->statistics = LazyBuffer(partials * options.statistics);
    slot->values = LazyBuffer(round_up(pulled_bytes_, sizeof(float)) / sizeof(float));
    slots_.push_back(std::move(slot));
  }
}

std::optional<Arrival> WorkerSlots::next(milliseconds wait) {
  std::unique_lock lock(mutex_);
  if (!arrived_.wait_for(lock, wait, [&] { return !queue_.empty(); }))
    return std::nullopt;
  return take(queue_.begin());
}

std::optional<Arrival> WorkerSlots::next_change() {
  const std::lock_guard lock(mutex_);
  for (auto queued = queue_.begin(); queued != queue_.end(); ++queued) {
    const auto is_of_the_same = [&](const Queued& other) {
      return other.arrival.worker == queued->arrival.worker;
    };
    const bool is_push = queued->arrival.kind == Arrival::Kind::push;
    if (is_push || std::any_of(queue_.begin(), queued, is_of_the_same)) continue;
    return take(queued);
  }
  return std::nullopt;
}

Arrival WorkerSlots::take(std::deque<Queued>::iterator queued) {
  Queued first = std::move(*queued);
  queue_.erase(queued);
  Slot& slot = at(first.arrival.worker);
  slot.seen = first.session;
  slot.owes = first.session == slot.session && first.arrival.kind != Arrival::Kind::lost;
  return std::move(first.arrival);
}

/// Whether the server has seen an arrival of the current session and not answered it.
bool WorkerSlots::may_answer(const Slot& slot) const {
  return slot.holder && slot.seen == slot.session && slot.owes;
}

void WorkerSlots::assign(int worker, const Assignment& assignment,
                         std::span<const float> values,
                         std::span<const float> statistics) {
  Slot& slot = at(worker);
  check(values.size() + statistics.size() == pulled_,
        "the values are those of the server's range");
  std::shared_ptr<SharedNumbers> shared;  // its session may end meanwhile
  {
    const std::lock_guard lock(mutex_);
    if (!may_answer(slot)) return;
    shared = slot.shared;
  }
  // The worker reads them only after the answer, so the copy delays no other session.
  const std::span<std::byte> to =
      shared ? shared->values() : std::as_writable_bytes(slot.values.span());
  const std::size_t before = pulled_bytes_ - statistics.size_bytes();
  if (types_.values == nullptr) {
    pack(Dtype::fp32, values, to.data());
  } else {
    types_.values->pack(types_.range, values.data(), to.data());
  }
  pack(Dtype::fp32, statistics, to.data() + before);
  const std::lock_guard lock(mutex_);
  slot.owes = false;
  if (!slot.holder || slot.seen != slot.session) return;
  slot.answer = {.kind = Answer::Kind::assignment, .assignment = assignment};
  slot.holder->wake();
}

void WorkerSlots::refuse(int worker, const std::string& why) {
  const std::lock_guard lock(mutex_);
  Slot& slot = at(worker);
  if (!slot.holder || slot.seen != slot.session) return;
  slot.owes = false;
  slot.answer = {.kind = Answer::Kind::refusal, .why = why};
  slot.holder->wake();
}

void WorkerSlots::finish(const Assignment& over, milliseconds wait) {
  std::unique_lock lock(mutex_);
  over_ = over;
  over_->over = true;
  for (const auto& slot : slots_) {
    if (slot->holder) slot->holder->wake();
  }
  released_.wait_for(lock, wait, [&] {
    return std::ranges::none_of(slots_, [](const auto& slot) { return slot->holder; });
  });
}

bool WorkerSlots::is_connected(int worker) const {
  const std::lock_guard lock(mutex_);
  return at(worker).holder;
}

bool WorkerSlots::enter(int worker, WorkerSession& session) {
  std::unique_lock lock(mutex_);
  Slot& slot = at(worker);
  if (!wait_until_free(lock, slot)) return false;
  slot.holder = &session;
  ++slot.session;
  slot.owes = slot.knows_end = false;
  slot.shared.reset();
  slot.waits = true;
  slot.answer = {};
  if (over_) {
    session.wake();
  } else {
    queue({.kind = Arrival::Kind::joined, .worker = worker});
  }
  return true;
}

/// A worker that died and was restarted may join before the end of its old connection was
/// read, or before its old host is known to have vanished. So the holder is probed.
bool WorkerSlots::wait_until_free(std::unique_lock<std::mutex>& lock, Slot& slot) {
  if (!slot.holder) return true;
  const std::uint64_t tested = slot.session;
  const Steady::time_point patience = Steady::now() + kProbeTimeout;
  bool was_cut = false;
  slot.holder->probe();
  while (slot.holder) {
    if (slot.session != tested || (!was_cut && slot.holder->shows_life())) return false;
    const Steady::time_point now = Steady::now();
    if (now > patience + kEndGrace) return false;
    if (now > patience && !std::exchange(was_cut, true)) {
      slot.holder->cut("it sent nothing, and another process took its place");
    }
    released_.wait_for(lock, kPollInterval);
  }
  return true;
}

Answer WorkerSlots::take_answer(int worker) {
  const std::lock_guard lock(mutex_);
  Slot& slot = at(worker);
  Answer answer = std::exchange(slot.answer, {});
  if (answer.kind == Answer::Kind::none && slot.waits && over_) {
    answer = {.kind = Answer::Kind::over, .assignment = *over_};
    slot.knows_end = true;
  }
  if (answer.kind != Answer::Kind::none) slot.waits = false;
  return answer;
}

void WorkerSlots::deposit(int worker, Push push, std::shared_ptr<SharedNumbers> shared) {
  const std::lock_guard lock(mutex_);
  Slot& slot = at(worker);
  slot.waits = true;
  slot.shared = std::move(shared);
  if (over_) return slot.holder->wake();
  Arrival arrival{.kind = Arrival::Kind::push,
                  .worker = worker,
                  .push = std::move(push),
                  .gradients = slot.gradients.span(),
                  .statistics = slot.statistics.span(),
                  .memory = slot.shared};
  if (slot.shared && !unpacks()) {
    auto* numbers = reinterpret_cast<float*>(slot.shared->pushed().data());
    arrival.gradients = {numbers, slot.gradients.size()};
    arrival.statistics = {numbers + slot.gradients.size(), slot.statistics.size()};
  }
  queue(std::move(arrival));
}

void WorkerSlots::leave(int worker, bool said_goodbye) {
  const std::lock_guard lock(mutex_);
  Slot& slot = at(worker);
  slot.holder = nullptr;
  if (!said_goodbye || !slot.knows_end) {
    queue({.kind = Arrival::Kind::lost, .worker = worker});
  }
  released_.notify_all();
}

void WorkerSlots::queue(Arrival arrival) {
  const std::uint64_t session = at(arrival.worker).session;
  queue_.push_back({std::move(arrival), session});
  arrived_.notify_one();
}

std::span<std::byte> WorkerSlots::packed(int worker, std::size_t bytes) {
  at(worker).packed.resize(bytes);
  return at(worker).packed;
}
std::span<float> WorkerSlots::gradients(int worker) {
  return at(worker).gradients.span();
}
std::span<float> WorkerSlots::statistics(int worker) {
  return at(worker).statistics.span();
}
std::span<const std::byte> WorkerSlots::values(int worker) const {
  return std::as_bytes(at(worker).values.span()).first(pulled_bytes_);
}

}  // namespace convoy
