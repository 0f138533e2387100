// SPDX-License-Identifier: Apache-2.0

#include "convoy/run/uploads.h"

#include <fmt/format.h>

#include <utility>

#include "convoy/base/error.h"
#include "convoy/remote_checkpoints/checkpoint_upload.h"
#include "convoy/remote_checkpoints/record_upload.h"
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
      access_(checked_access(run_)),
      queue_({.access = access_,
              .run = run_,
              .transfer = {},
              .on_message = [this](const std::string& message) { say(message); }}) {}

void Uploads::say(const std::string& message) {
  const std::lock_guard lock(mutex_);
  messages_.push_back(message);
}

void Uploads::submit(const std::filesystem::path& checkpoint, const SaveRequest& order) {
  queue_.submit(checkpoint, CheckpointRole::last);
  if (order.best) queue_.submit(checkpoint, CheckpointRole::best);
}

std::vector<std::string> Uploads::take_messages() {
  const std::lock_guard lock(mutex_);
  return std::exchange(messages_, {});
}

std::string Uploads::finish(const std::filesystem::path& folder) {
  const Deadline deadline(settings_.upload_deadline);
  const std::string checkpoints = finish_checkpoints(deadline.left());
  const std::string records = finish_records(folder, deadline.left());
  return checkpoints.empty() || records.empty() ? checkpoints + records
                                                : checkpoints + "; " + records;
}

std::string Uploads::finish_checkpoints(double seconds) {
  if (queue_.finish(seconds)) return "";
  const std::string error = queue_.last_error();
  return fmt::format(
      "not all checkpoints are at {}: {}; those in the run's folder are complete",
      place(), error.empty() ? "checkpoint.upload_deadline has passed" : error);
}

std::string Uploads::finish_records(const std::filesystem::path& folder,
                                    double seconds) try {
  upload_records(
      {.access = access_,
       .run = run_,
       .transfer = {.operation_seconds = seconds},
       .on_uploaded = [this](const S3Location& file) { say("uploaded " + file.text()); }},
      folder);
  return "";
} catch (const InputError& error) {
  return fmt::format("not all records are at {}: {}", place(), error.what());
}

}  // namespace convoy
