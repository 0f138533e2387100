// SPDX-License-Identifier: Apache-2.0
//
// CheckpointWriter: checkpoints and weights written in the background, from a copy.
//
//   training   | step | save: copy |  step  |  step  |  step  |
//   thread                         | write, flush, rename, prune |
//
// save() waits for the previous write, copies, and returns: training waits for nothing
// else, and what was given first is on disk first. An error in the background is thrown
// by the next save(), rethrow_failure() or finish().

#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <thread>

#include "convoy/checkpoint/checkpoint.h"

namespace convoy {

struct SaveRequest {
  bool best = false;  // the best so far
};

class CheckpointWriter {
 public:
  /// Called on the writer's thread when a checkpoint is complete on disk.
  using OnSaved = std::function<void(const std::filesystem::path&, const SaveRequest&)>;

  /// Keeps the newest `keep` checkpoints (0: all).
  CheckpointWriter(std::filesystem::path run, std::size_t keep, OnSaved on_saved = {});

  /// Completes the write in progress; its errors are not reported. To get them, call
  /// finish().
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  /// Copies the content and begins to write it. Throws a storage error, once, if the
  /// previous write failed.
  void save(const CheckpointContent& content, const SaveRequest& order);

  /// As save(), for the weights alone (weight_saves.h).
  void save_weights(std::uint64_t step, const std::vector<SavedPart>& model);

  /// The following copy nothing and return when everything is on disk: for parts of which
  /// this rank does not have everything. They throw a storage error. `make` writes the
  /// checkpoint into a run's folder and returns its own.
  using Make = std::function<std::filesystem::path(const std::filesystem::path& run)>;
  void save_now(const Make& make, const SaveRequest& order);
  void save_weights_now(std::uint64_t step, const std::vector<SavedPart>& model);

  /// Throws the error of a failed write, once; does not wait.
  void rethrow_failure();

  /// Waits until everything is on disk. Throws a storage error if a write failed.
  void finish();

  /// The total time that training has waited in save() and finish().
  double seconds_blocked() const { return seconds_blocked_; }

 private:
  struct Work {
    CheckpointContent content;         // refers to the copies below
    std::optional<SaveRequest> order;  // none: weights alone
  };

  void hand_over(const CheckpointContent& content, std::optional<SaveRequest> order);
  void take_copy(const CheckpointContent& content);
  std::vector<SavedPart> copied(const std::vector<SavedPart>& parts);
  void wait_until_idle(std::unique_lock<std::mutex>& lock);
  void serve();
  void write(const Work& work) const;
  void publish(const std::filesystem::path& checkpoint, const SaveRequest& order) const;

  std::filesystem::path run_;
  std::size_t keep_;
  OnSaved on_saved_;
  double seconds_blocked_ = 0;
  std::list<FlatBuffer> copies_;  // in the order of the parts; made by the first save()
  std::list<FlatBuffer>::iterator next_copy_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Work> work_;  // to be written or being written
  std::exception_ptr failure_;
  bool ending_ = false;
  std::thread thread_;  // last: it uses all members above
};

}  // namespace convoy
