// SPDX-License-Identifier: Apache-2.0

#include "convoy/remote_checkpoints/record_upload.h"

#include <algorithm>

#include "convoy/s3/client.h"
#include "convoy/s3/source_file.h"

namespace convoy {

std::vector<std::filesystem::path> record_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  const auto add = [&](const std::filesystem::path& path) {
    std::error_code error;
    if (std::filesystem::symlink_status(path, error).type() ==
        std::filesystem::file_type::regular) {
      files.push_back(path);
    }
  };
  for (const char* name :
       {"config.yaml", "metrics.jsonl", "summary.json", "resources.csv", "log.txt",
        "model.json", "eval.json", "report.html"}) {
    add(folder / name);
  }
  const auto records = static_cast<std::ptrdiff_t>(files.size());
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("events.out.tfevents.")) add(entry.path());
  }
  std::sort(files.begin() + records, files.end());
  return files;
}

void upload_records(const RecordUpload& upload, const std::filesystem::path& folder) {
  const Deadline deadline(upload.transfer.operation_seconds);
  for (const std::filesystem::path& path : record_files(folder)) {
    S3Options transfer = upload.transfer;
    transfer.operation_seconds = std::max(0.1, deadline.left());
    const S3Location place = upload.run / path.filename().string();
    S3Client(upload.access, transfer).put_file(place, SourceFile(path));
    if (upload.on_uploaded) upload.on_uploaded(place);
  }
}

}  // namespace convoy
