// SPDX-License-Identifier: Apache-2.0
//
// UploadQueue: uploads checkpoints to object storage in the background, while training
// continues.
//
//   UploadQueue queue({.access = find_s3_access(), .run = upload / run_name, ...});
//   queue.submit(folder, CheckpointRole::last);   // for every checkpoint
//   queue.finish(deadline);                       // at the end of the run
//
// Only finish() waits for uploads. Failures are not exceptions, but messages and
// last_error(); local checkpoints are not affected.

#pragma once

#include <array>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "convoy/base/clock.h"
#include "convoy/remote_checkpoints/checkpoint_upload.h"
#include "convoy/s3/access.h"
#include "convoy/s3/options.h"

namespace convoy {

struct UploadQueueOptions {
  S3Access access;
  S3Location run;                // <prefix>/<run name>
  S3Options transfer{};          // the queue sets `cancel` and the callbacks
  double progress_seconds = 10;  // interval of progress messages

  /// Called with one line about each upload or failure, by the queue's thread or that of
  /// submit(), never by two at once. Must not throw.
  std::function<void(const std::string&)> on_message{};
};

/// submit(), finish() and last_error() may be called from any thread.
class UploadQueue {
 public:
  explicit UploadQueue(UploadQueueOptions options);

  /// Cancels running and waiting uploads, within three seconds.
  ~UploadQueue();
  UploadQueue(const UploadQueue&) = delete;
  UploadQueue& operator=(const UploadQueue&) = delete;

  /// Opens the checkpoint's files, so that its folder may be removed from now on, and
  /// returns. Replaces a waiting checkpoint of the same role.
  void submit(const std::filesystem::path& folder, CheckpointRole role);

  /// Waits until everything is uploaded, then cancels the rest, all within `seconds` (the
  /// last few of which are reserved for cleaning up at the server). Returns whether the
  /// newest checkpoint of each role was uploaded. Afterwards the queue accepts nothing
  /// more. If there was no time to clean up, the destructor waits for that.
  bool finish(double seconds);

  /// The latest failure of a role that no later upload has repaired; "" if there is none.
  std::string last_error() const;

 private:
  static constexpr std::size_t kRoles = 2;

  void work();
  std::optional<std::pair<CheckpointRole, OpenCheckpoint>> take_next();
  void upload(S3Client& client, const OpenCheckpoint& checkpoint, CheckpointRole role);
  void note_sent(std::uint64_t bytes);
  void close();
  template <class Condition>
  void wait_for(double seconds, const Condition& holds);
  void say(const std::string& message);
  void set_error(CheckpointRole role, const std::string& error);

  const UploadQueueOptions options_;
  std::stop_source cancel_;
  mutable std::mutex mutex_;  // protects all members below except the thread
  std::condition_variable changed_;
  std::array<std::optional<OpenCheckpoint>, kRoles> waiting_;
  std::array<std::string, kRoles> errors_;
  CheckpointRole turn_ = CheckpointRole::last;
  bool is_busy_ = false;
  bool is_closed_ = false;
  bool has_ended_ = false;
  std::mutex message_mutex_;

  /// The current upload. Used by the thread only.
  struct Going {
    std::string name;
    std::uint64_t bytes = 0, sent = 0;
    Stopwatch since_message;
  } current_;
  std::thread thread_;
};

}  // namespace convoy
