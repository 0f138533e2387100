// SPDX-License-Identifier: Apache-2.0

#include "convoy/run/uploads.h"

#include <fmt/format.h>

#include <utility>

#include "convoy/remote_checkpoints/checkpoint_upload.h"
#include "convoy/s3/access.h"
#include "convoy/s3/client.h"

namespace convoy {
namespace {

/// Checks that the server accepts the credentials.
S3Access checked_access(const S3Location& run) {
  const S3Access access = find_s3_access();
  // The other ranks wait meanwhile.
  S3Client client(
      access,
      {.connect_seconds = 5, .stall_seconds = 5, .operation_seconds = 20, .attempts = 2});
  check_upload(client, run);
  return access;
}

}  // namespace

Uploads::Uploads(const CheckpointSettings& settings, const std::string& run_name)
    : settings_(settings),
      run_(S3Location::parse(settings.upload, "checkpoint.upload") / run_name),
      queue_({.access = checked_access(run_),
              .run = run_,
              .transfer = {},
              .on_message = [this](const std::string& message) {
                const std::lock_guard lock(mutex_);
                messages_.push_back(message);
              }}) {}

void Uploads::submit(const std::filesystem::path& checkpoint, const SaveRequest& order) {
  queue_.submit(checkpoint, CheckpointRole::last);
  if (order.best) queue_.submit(checkpoint, CheckpointRole::best);
}

std::vector<std::string> Uploads::take_messages() {
  const std::lock_guard lock(mutex_);
  return std::exchange(messages_, {});
}

std::string Uploads::finish() {
  if (queue_.finish(settings_.upload_deadline)) return "";
  const std::string error = queue_.last_error();
  return fmt::format(
      "not all checkpoints are at {}: {}; those in the run's folder are complete",
      run_.text(), error.empty() ? "checkpoint.upload_deadline has passed" : error);
}

}  // namespace convoy
