// SPDX-License-Identifier: Apache-2.0
//
// Uploads: a run's checkpoints go to `checkpoint.upload` as they are written.

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
  /// Asks the server first, so that what cannot be uploaded is refused before the first
  /// step. Throws InputError.
  Uploads(const CheckpointSettings& settings, const std::string& run_name);

  /// A checkpoint is on disk. From any thread.
  void submit(const std::filesystem::path& checkpoint, const SaveRequest& order);

  /// What has happened since it was last asked, for people.
  std::vector<std::string> take_messages();

  /// Waits for all, as long as the settings allow. Returns what did not go up, and why;
  /// "" if all did.
  std::string finish();

 private:
  CheckpointSettings settings_;
  S3Location run_;
  std::mutex mutex_;
  std::vector<std::string> messages_;
  UploadQueue queue_;  // last: it uses the above
};

}  // namespace convoy
