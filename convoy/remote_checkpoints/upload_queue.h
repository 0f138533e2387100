// SPDX-License-Identifier: Apache-2.0
//
// UploadQueue: checkpoints go to object storage in the background, while training goes
// on.
//
//   UploadQueue queue({.access = find_s3_access(), .run = upload / run_name, ...});
//   queue.submit(folder, CheckpointRole::last);   // as often as there is one
//   queue.finish(deadline);                       // at the end of the run
//
// Nobody waits for it but finish(). Nothing that fails here is an exception: it is a
// message and last_error(), and the local checkpoint is as it was.

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
  S3Options transfer{};          // its `cancel` and callbacks are the queue's own
  double progress_seconds = 10;  // from one message of how far it is to the next

  /// Hears in one line what went up, or why not. From the queue's thread, and from
  /// that of submit(), but never from two at once. Must not throw.
  std::function<void(const std::string&)> on_message{};
};

/// submit(), finish() and last_error() may be called from any thread.
class UploadQueue {
 public:
  explicit UploadQueue(UploadQueueOptions options);

  /// Cancels what is under way, within three seconds, and what waits.
  ~UploadQueue();
  UploadQueue(const UploadQueue&) = delete;
  UploadQueue& operator=(const UploadQueue&) = delete;

  /// Opens the checkpoint's files, so that its folder may be removed from now on, and
  /// returns. One of the same role that still waits makes room for it.
  void submit(const std::filesystem::path& folder, CheckpointRole role);

  /// Waits until all is uploaded, then cancels what is not, all within `seconds` (the
  /// last few of which are for tidying up at the server). Returns whether the newest of
  /// each role is there. After it the queue takes nothing more. If there was no time for
  /// tidying up, the destructor waits for that.
  bool finish(double seconds);

  /// The newest failure of a role that has not been made good by a later upload; "" if
  /// all is well.
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
  mutable std::mutex mutex_;  // guards all below but the thread
  std::condition_variable changed_;
  std::array<std::optional<OpenCheckpoint>, kRoles> waiting_;
  std::array<std::string, kRoles> errors_;
  CheckpointRole turn_ = CheckpointRole::last;
  bool is_busy_ = false;
  bool is_closed_ = false;
  bool has_ended_ = false;
  std::mutex message_mutex_;

  /// What goes up now. The thread's own.
  struct Going {
    std::string name;
    std::uint64_t bytes = 0, sent = 0;
    Stopwatch since_message;
  } going_;
  std::thread thread_;
};

}  // namespace convoy
