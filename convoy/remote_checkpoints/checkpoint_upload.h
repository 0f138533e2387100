// SPDX-License-Identifier: Apache-2.0
//
// CheckpointUpload: uploads a checkpoint's folder to object storage, the pointer last.

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

/// A checkpoint whose files are held open, so that it can be uploaded after its folder
/// was removed.
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

/// Uploads the files, the manifest and then the pointer; only the pointer if the same
/// checkpoint is already there. Returns the number of uploaded bytes of files.
///
/// Throws S3Error; InputError of kind `data` if a local file does not match its manifest:
/// then nothing of that file was uploaded.
std::uint64_t upload_checkpoint(S3Client& client, const S3Location& run,
                                const OpenCheckpoint& checkpoint, CheckpointRole role);

/// Requests the run's pointer, to find out before a long run whether the server cannot be
/// reached, refuses the key or has no such bucket. Changes nothing. Throws S3Error.
void check_upload(S3Client& client, const S3Location& run);

}  // namespace convoy
