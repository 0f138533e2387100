// SPDX-License-Identifier: Apache-2.0
//
// Uploads what a run has recorded besides checkpoints, under the names of its folder:
//
//   <prefix>/<run>/metrics.jsonl   config.yaml, summary.json, resources.csv, log.txt,
//                                  model.json, eval.json, report.html and event files
//                                  as well

#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "convoy/s3/access.h"
#include "convoy/s3/location.h"
#include "convoy/s3/options.h"

namespace convoy {

/// The records that a run's folder contains, event files last, without links.
std::vector<std::filesystem::path> record_files(const std::filesystem::path& folder);

struct RecordUpload {
  S3Access access;
  S3Location run;        // <prefix>/<run name>
  S3Options transfer{};  // operation_seconds is that of all files together

  /// Called with the address of each uploaded file.
  std::function<void(const S3Location&)> on_uploaded{};
};

/// Uploads the records of a run's folder. Throws S3Error, or a storage error, for the
/// first file that cannot be uploaded.
void upload_records(const RecordUpload& upload, const std::filesystem::path& folder);

}  // namespace convoy
