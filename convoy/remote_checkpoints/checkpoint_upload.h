// SPDX-License-Identifier: Apache-2.0
//
// CheckpointUpload: a checkpoint's folder to object storage, its pointer last.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "convoy/remote_checkpoints/checkpoint_places.h"
#include "convoy/remote_checkpoints/manifest.h"
#include "convoy/s3/client.h"
#include "convoy/s3/source_file.h"

namespace convoy {

/// A checkpoint whose files are held open: it can be uploaded although its folder is
/// gone.
struct OpenCheckpoint {
  struct File {
    ManifestFile entry;
    SourceFile content;
  };

  std::string name;      // of its folder: the step
  std::string manifest;  // the text of manifest.json
  std::vector<File> files;

  std::uint64_t bytes() const;
};

/// Opens every file that the manifest names. `folder` may be a link to the checkpoint.
/// Throws InputError of kind `storage` or `data`.
OpenCheckpoint open_checkpoint(const std::filesystem::path& folder);

/// Uploads the files, the manifest and then the pointer. If the same checkpoint is there
/// already, only the pointer. Returns how many bytes of files went up.
///
/// Throws S3Error; InputError of kind `data` if a local file is not as its manifest says:
/// then nothing of it went up.
std::uint64_t upload_checkpoint(S3Client& client, const S3Location& run,
                                const OpenCheckpoint& checkpoint, CheckpointRole role);

/// Asks the server for the run's pointer, to learn before a long run that it cannot be
/// reached, refuses the key or has no such bucket. Changes nothing. Throws S3Error.
void check_upload(S3Client& client, const S3Location& run);

}  // namespace convoy
