// SPDX-License-Identifier: Apache-2.0
//
// Uploads: uploads a run's checkpoints to `checkpoint.upload` as they are written, and at
// its end what it has recorded.

#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "convoy/checkpoint/checkpoint_writer.h"
#include "convoy/remote_checkpoints/upload_queue.h"
#include "convoy/settings/settings.h"

namespace convoy {

class Uploads {
 public:
  /// Contacts the server, so that a problem is reported before the first step. Throws
  /// InputError.
  Uploads(const CheckpointSettings& settings, const std::string& run_name);

  /// A checkpoint is on disk. Any thread may call it.
  void submit(const std::filesystem::path& checkpoint, const SaveRequest& order);

  /// Returns the messages since the last call.
  std::vector<std::string> take_messages();

  /// Waits for all uploads, then uploads the records in the run's folder, as long as the
  /// settings allow. Returns what was not uploaded, and why; "" if everything was.
  std::string finish(const std::filesystem::path& folder);

  /// Where everything is: "s3://bucket/prefix/run".
  std::string place() const { return run_.text(); }

 private:
  void say(const std::string& message);
  /// Both return what was not uploaded.
  std::string finish_checkpoints(double seconds);
  std::string finish_records(const std::filesystem::path& folder, double seconds);

  CheckpointSettings settings_;
  S3Location run_;
  S3Access access_;
  std::mutex mutex_;
  std::vector<std::string> messages_;
  UploadQueue queue_;  // last: it uses the members above
};

}  // namespace convoy
