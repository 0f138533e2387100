// SPDX-License-Identifier: Apache-2.0

#include "convoy/checkpoint/checkpoint_writer.h"

#include <algorithm>
#include <utility>

#include "convoy/base/clock.h"
#include "convoy/checkpoint/checkpoint_folder.h"
#include "convoy/checkpoint/weight_saves.h"
#include "convoy/system/quiet_thread.h"

namespace convoy {

CheckpointWriter::CheckpointWriter(std::filesystem::path run, std::size_t keep,
                                   OnSaved on_saved)
    : run_(std::move(run)),
      keep_(keep),
      on_saved_(std::move(on_saved)),
      thread_(quiet_thread([this] { serve(); })) {}

CheckpointWriter::~CheckpointWriter() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void CheckpointWriter::save(const CheckpointContent& content, const SaveRequest& order) {
  hand_over(content, order);
}

void CheckpointWriter::save_weights(std::uint64_t step,
                                    const std::vector<SavedPart>& model) {
  CheckpointContent content{.state = {}, .model = model, .optimizer = {}, .config = {}};
  content.state.step = step;
  hand_over(content, std::nullopt);
}

void CheckpointWriter::save_now(const Make& make, const SaveRequest& order) {
  finish();
  const Stopwatch watch;
  publish(make(run_), order);
  seconds_blocked_ += watch.seconds();
}

void CheckpointWriter::save_weights_now(std::uint64_t step,
                                        const std::vector<SavedPart>& model) {
  finish();
  const Stopwatch watch;
  write_weight_save(run_, step, model);
  seconds_blocked_ += watch.seconds();
}

void CheckpointWriter::hand_over(const CheckpointContent& content,
                                 std::optional<SaveRequest> order) {
  const Stopwatch watch;
  {
    std::unique_lock lock(mutex_);
    wait_until_idle(lock);
    take_copy(content);
    work_->order = order;
  }
  changed_.notify_all();
  seconds_blocked_ += watch.seconds();
}

/// Copies the buffers and makes the parts refer to the copies. From the second call on,
/// only names are allocated.
void CheckpointWriter::take_copy(const CheckpointContent& content) {
  next_copy_ = copies_.begin();
  work_ = Work{.content = {.state = content.state,
                           .model = copied(content.model),
                           .optimizer = copied(content.optimizer),
                           .config = content.config},
               .order = {}};
}

std::vector<SavedPart> CheckpointWriter::copied(const std::vector<SavedPart>& parts) {
  std::vector<SavedPart> copies;
  for (const SavedPart& part : parts) {
    if (next_copy_ == copies_.end()) {
      next_copy_ = copies_.emplace(copies_.end(), part.layout);
    }
    FlatBuffer& copy = *next_copy_++;
    std::ranges::copy(part.numbers.numbers(), copy.data());
    copies.push_back({part.layout, copy, part.suffix, part.only_trained,
                      /*plan=*/nullptr, /*units=*/nullptr, part.types});
  }
  return copies;
}

void CheckpointWriter::rethrow_failure() {
  const std::lock_guard lock(mutex_);
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void CheckpointWriter::finish() {
  const Stopwatch watch;
  {
    std::unique_lock lock(mutex_);
    wait_until_idle(lock);
  }
  seconds_blocked_ += watch.seconds();
}

void CheckpointWriter::wait_until_idle(std::unique_lock<std::mutex>& lock) {
  changed_.wait(lock, [&] { return !work_; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void CheckpointWriter::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return work_ || ending_; });
    if (!work_) return;
    lock.unlock();
    std::exception_ptr failure;
    try {
      write(*work_);  // no other thread uses it until it is reset
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    work_.reset();
    failure_ = failure;
    changed_.notify_all();
  }
}

void CheckpointWriter::write(const Work& work) const {
  if (work.order) return publish(save_checkpoint(run_, work.content), *work.order);
  write_weight_save(run_, work.content.state.step, work.content.model);
}

void CheckpointWriter::publish(const std::filesystem::path& checkpoint,
                               const SaveRequest& order) const {
  point_at(checkpoint, "last");
  if (order.best) point_at(checkpoint, "best");
  prune_checkpoints(checkpoint, keep_);
  if (on_saved_) on_saved_(checkpoint, order);
}

}  // namespace convoy
