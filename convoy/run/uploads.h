// SPDX-License-Identifier: Apache-2.0
//
// Uploads: uploads a run's checkpoints to `checkpoint.upload` as they are written.

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

  /// Waits for all uploads, as long as the settings allow. Returns what was not uploaded,
  /// and why; "" if everything was.
  std::string finish();

 private:
  CheckpointSettings settings_;
  S3Location run_;
  std::mutex mutex_;
  std::vector<std::string> messages_;
  UploadQueue queue_;  // last: it uses the members above
};

}  // namespace convoy
